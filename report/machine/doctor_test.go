package machine

import (
	"bytes"
	"testing"

	"assay/probes"
)

func TestFitness(t *testing.T) {
	ok, unknown, warn, fail := probes.Check{State: probes.CheckOK}, probes.Check{State: probes.CheckUnknown}, probes.Check{State: probes.CheckWarn}, probes.Check{State: probes.CheckFail}
	for want, checks := range map[string][]probes.Check{
		"Fit to measure.": {ok},
		"Fit, as far as seen: 1 of 2 checks could not see.":                                         {ok, unknown},
		"Fit, as far as seen: 2 of 4 checks could not see; what is wrong will stand in the result.": {ok, unknown, warn, unknown},
		"Fit to measure; what is wrong will stand in the result.":                                   {ok, warn},
		"Not fit to measure.": {ok, unknown, warn, fail},
	} {
		if got := Fitness(checks); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// TestWriteChecks: what is wrong comes first with what to do, of many GPUs three are shown, the unknown stands together by its
// cause, and what to do about it is said once, with the checks it is for.
func TestWriteChecks(t *testing.T) {
	var b bytes.Buffer
	WriteChecks(&b, []probes.Check{
		{ID: "thp", State: probes.CheckOK, Text: "Fine.", Evidence: []string{"not shown"}},
		{ID: "ecc", State: probes.CheckUnknown, Text: "Not known: a.", Hint: "Run as root."},
		{ID: "link", State: probes.CheckUnknown, Text: "Not known: b.", Hint: "Run as root."},
		{ID: "acs", State: probes.CheckUnknown, Text: "Not known: a.", Hint: "Install it."},
		{ID: "swap", State: probes.CheckWarn, Text: "Swap.", Hint: "Off with it."},
		{ID: "power_cap", State: probes.CheckFail, Text: "Capped.", Hint: "Set it back.", Evidence: []string{"1", "2", "3", "4", "5"}},
	})
	want := `WRONG
  ✗ power_cap          Capped.
                       do:  Set it back.
                       saw: 1
                       saw: 2
                       saw: 3
                       saw: and 2 more (--json)
  ! swap               Swap.
                       do:  Off with it.

NOT KNOWN
  ? ecc, acs
                       Not known: a.
  ? link               Not known: b.
  do: Run as root. (ecc, link)
  do: Install it. (acs)

FINE
  ✓ thp                Fine.

Not fit to measure. (1 fail, 1 warn, 3 unknown, 1 ok)
`
	if b.String() != want {
		t.Errorf("%s", b.String())
	}
}
