package fit

import (
	"testing"

	"assay/fault"
	"assay/probes"
)

func TestRefuseNamesEveryFailedCheck(t *testing.T) {
	checks := []probes.Check{
		{ID: "governor", State: probes.CheckFail, Text: "the governor is powersave", Hint: "set performance"},
		{ID: "swap", State: probes.CheckWarn, Text: "swap is on", Hint: "turn it off"},
		{ID: "clock", State: probes.CheckFail, Text: "the clock is not synchronised"},
		{ID: "disk", State: probes.CheckUnknown, Text: "the disk is not known"},
	}
	f := fault.Of(Refuse(checks), fault.Client)
	if f == nil || f.Code != "preflight.not_fit" {
		t.Fatalf("%v", f)
	}
	if want := "the machine is not fit to measure: governor: the governor is powersave; clock: the clock is not synchronised"; f.Text != want {
		t.Errorf("text %q", f.Text)
	}
	if want := "governor: set performance; or relax a check in the plan, e.g. checks: {governor: relaxed}"; f.Hint != want {
		t.Errorf("hint %q", f.Hint)
	}
	if err := Refuse(checks[1:2]); err != nil {
		t.Errorf("a warning refuses: %v", err)
	}
}
