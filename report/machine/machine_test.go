package machine

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/probes"
)

func TestCompose(t *testing.T) {
	vendor, product := probes.Known("Dell Inc.", "dmi/sys_vendor"), probes.Known("XE9680", "dmi/product_name")
	missing, na := probes.Unknown[string]("needs root"), probes.NA[string]("a virtual machine")
	tests := []struct {
		name        string
		line        Line
		text, hover string
	}{
		{"both", compose("System", " ", say("vendor", vendor, asIs), say("product", product, asIs)), "Dell Inc. XE9680", "source: dmi/sys_vendor, dmi/product_name"},
		{"one", compose("System", " ", say("vendor", vendor, asIs), say("product", missing, asIs)), "Dell Inc.", "source: dmi/sys_vendor; product unknown: needs root"},
		{"none", compose("System", " ", say("vendor", missing, asIs), say("product", missing, asIs)), "unknown: needs root", "vendor unknown: needs root; product unknown: needs root"},
		{"not applicable", compose("System", " ", say("vendor", vendor, asIs), say("product", na, asIs)), "Dell Inc.", "source: dmi/sys_vendor"},
		{"zero fact", compose("System", " ", say("vendor", probes.Fact[string]{}, asIs)), "unknown: not probed", "vendor unknown: not probed"},
	}
	for _, test := range tests {
		if got := test.line.Text(); got != test.text {
			t.Errorf("%s: text %q, want %q", test.name, got, test.text)
		}
		if got := test.line.Hover(); got != test.hover {
			t.Errorf("%s: hover %q, want %q", test.name, got, test.hover)
		}
	}
}

// One file read of each of eight devices is one source with a count, not eight lines.
func TestDistinct(t *testing.T) {
	var many []string
	for _, c := range "abcdefgh" {
		many = append(many, string(c), string(c), "")
	}
	if got := Distinct(many); got != "a, b, c, d, e, f, and 2 more" {
		t.Errorf("got %q", got)
	}
}

func TestFold(t *testing.T) {
	long := strings.Repeat("word ", 40)
	lines := strings.Split(strings.TrimSuffix(Fold(long, "    "), "\n"), "\n")
	for i, l := range lines {
		if len(l) > Width || i > 0 && !strings.HasPrefix(l, "    word") {
			t.Errorf("line %d: %q", i, l)
		}
	}
	if got := strings.Join(strings.Fields(strings.Join(lines, " ")), " "); got != strings.TrimSpace(long) {
		t.Errorf("folding lost words: %q", got)
	}
	whole := strings.Repeat("x", 2*Width)
	if d := cmp.Diff(whole+"\n", Fold(whole, "  ")); d != "" {
		t.Errorf("a word was broken:\n%s", d)
	}
}

// The most urgent comes first, and equals keep their order.
func TestSortedChecks(t *testing.T) {
	checks := []probes.Check{{ID: "a", State: probes.CheckOK}, {ID: "b", State: probes.CheckWarn}, {ID: "c", State: probes.CheckFail}, {ID: "d", State: probes.CheckOK}, {ID: "e", State: probes.CheckUnknown}}
	var order string
	for _, c := range SortedChecks(checks) {
		order += c.ID
	}
	if order != "cbead" || checks[0].ID != "a" {
		t.Errorf("order %s, input begins with %s", order, checks[0].ID)
	}
	if got := CheckCounts(checks); got != "1 fail, 1 warn, 1 unknown, 2 ok" {
		t.Errorf("counts %q", got)
	}
}

// TestAcrossSomeUnknown: a property that one device does not tell is counted as not known, so that the count of the others stands out.
func TestAcrossSomeUnknown(t *testing.T) {
	all := []probes.Accelerator{{ComputeUnits: probes.Known(304, "test")}, {ComputeUnits: probes.Unknown[int]("lost")}, {ComputeUnits: probes.Known(304, "test")}, {ComputeUnits: probes.NA[int]("none")}}
	l := across("Compute units", all, func(x probes.Accelerator) part { return say("compute units", x.ComputeUnits, format[int]("%d")) })
	if l.Text() != "2 × 304, 1 × unknown" {
		t.Error(l.Text())
	}
}

// TestMachineLines: what runs below a container is said, and kinds of core are not counted twice.
func TestMachineLines(t *testing.T) {
	value := func(s probes.SUT, label string) string {
		lines := machineLines(s)
		return lines[slices.IndexFunc(lines, func(l Line) bool { return l.Label == label })].Value
	}
	for want, layers := range map[string][2]string{"docker, in a guest of kvm": {"docker", "kvm"}, "docker": {"docker", "none"}, "kvm": {"kvm", "kvm"}, "none": {"none", "none"}} {
		s := probes.SUT{System: probes.System{Virtualization: probes.Known(layers[0], "a"), Hypervisor: probes.Known(layers[1], "b")}}
		if got := value(s, "Virtualization"); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
	for want, model := range map[string]string{"1 × AMD EPYC 9654": "AMD EPYC 9654", "1 processor: 10 × Cortex-A725, 10 × Cortex-X925": "10 × Cortex-A725, 10 × Cortex-X925"} {
		if got := value(probes.SUT{CPU: probes.CPU{Sockets: probes.Known(1, "a"), Model: probes.Known(model, "b")}}, "Processors"); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
