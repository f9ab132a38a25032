package report

import (
	"bytes"
	"encoding/json"
	"html"
	"strings"
	"testing"

	"assay/probes"
	"assay/report/machine"
)

// Every reason and every source of a SUT document stands in the list of facts.
func TestFactsAreWhole(t *testing.T) {
	for name, s := range map[string]probes.SUT{"gpu": gpuSUT(), "cpu": cpuSUT()} {
		var all strings.Builder
		for _, g := range machine.Facts(s) {
			for _, f := range g.Facts {
				all.WriteString(f.Label + "|" + f.Value + "|" + f.Source + "|" + f.Reason + "\n")
			}
		}
		for _, want := range reasons(t, s) {
			if !strings.Contains(all.String(), want) {
				t.Errorf("%s: %q is in the document and not in the facts", name, want)
			}
		}
	}
}

// reasons gives all unknown and na texts of a document.
func reasons(t *testing.T, s probes.SUT) []string {
	t.Helper()
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	dec := json.NewDecoder(bytes.NewReader(raw))
	key := ""
	for {
		token, err := dec.Token()
		if err != nil {
			return out
		}
		text, ok := token.(string)
		if ok && (key == "unknown" || key == "na") {
			out = append(out, text)
		}
		key = text
	}
}

func TestFactTexts(t *testing.T) {
	facts := map[string]machine.Fact{}
	for _, g := range machine.Facts(gpuSUT()) {
		for _, f := range g.Facts {
			facts[g.Name+"/"+f.Label] = f
		}
	}
	for label, want := range map[string]string{
		"System/BIOS version":                  "2.6.5",
		"Memory/Installed":                     "2 TiB",
		"Memory/DIMMs A1 … B16":                "32 × 64 GiB · DDR5 · 4800 MT/s · runs at 4800 MT/s",
		"Accelerators/Power cap":               "750 W on all 8",
		"Accelerators/NUMA node of 0, 1, 2, 3": "0",
		"Accelerators/Link speed":              "32 GT/s on all 8",
		"Storage/Filesystems /":                "ext4 · ext4, lvm, nvme · 97.87 GiB · 55.88 GiB free · ext4 on LVM (/; 1 × NVMe)",
		"Network/Interfaces eno8303":           "Broadcom BCM5720 · 1000 Mb/s · up · ethernet",
		"Power/Provisioned":                    "9900 W",
	} {
		got, _, _ := strings.Cut(facts[label].Value, " · not known: ") // what this machine was not asked for
		if got != want {
			t.Errorf("%s = %q, want %q", label, got, want)
		}
	}
	if f := facts["Accelerators/IFWI"]; f.State != "unknown" || f.Hover() != "unknown: amd-smi not found" {
		t.Errorf("IFWI: %+v", f)
	}
}

// Devices that differ are told apart, never averaged or hidden behind the first.
func TestDevicesThatDiffer(t *testing.T) {
	s := gpuSUT()
	s.Accelerators.Items[3].PowerCapW = probes.Known(650.0, "hwmon")
	s.Accelerators.Items[5].PowerCapW = probes.Unknown[float64]("permission denied")
	var cap machine.Line
	for _, c := range machine.Summarise(s) {
		for _, l := range c.Lines {
			if l.Label == "Power cap" {
				cap = l
			}
		}
	}
	if cap.Value != "6 × 750 W (default 750 W), 1 × 650 W (default 750 W), 1 × unknown" || len(cap.Missing) != 1 {
		t.Errorf("power cap: %+v", cap)
	}
}

// A hover text or a printed source is there for every value of the page's summary.
func TestSummaryHasSources(t *testing.T) {
	page := string(write(t, htmlFormat(), inputNamed(t, "sweep")))
	for _, c := range machine.Summarise(gpuSUT()) {
		for _, l := range c.Lines {
			if l.Hover() == "" {
				t.Errorf("%s has neither source nor reason", l.Label)
			}
			if !strings.Contains(page, html.EscapeString(l.Hover())) {
				t.Errorf("the page lacks the source of %s: %s", l.Label, l.Hover())
			}
		}
	}
}

func TestSUTText(t *testing.T) {
	var b bytes.Buffer
	machine.WriteText(&b, gpuSUT())
	golden(t, "sut.txt", b.Bytes())
	for _, line := range strings.Split(b.String(), "\n") {
		if n := len([]rune(line)); n > machine.Width {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	machine.WriteText(&b, probes.SUT{})
}

func TestChecksText(t *testing.T) {
	var b bytes.Buffer
	machine.WriteChecks(&b, gpuChecks())
	machine.WriteChecks(&b, nil)
	golden(t, "checks.txt", b.Bytes())
}

// A plan or identity of any shape makes a page, never a panic.
func FuzzDocument(f *testing.F) {
	f.Add([]byte(`{"protocol":{"matrix":{}},"server":{"engine":"vllm"}}`), []byte(`{"argv":["a"]}`), "decode", 3.0)
	f.Add([]byte(`[]`), []byte(`null`), "serve", -1.0)
	f.Fuzz(func(t *testing.T, plan, server []byte, phase string, value float64) {
		in := tinyInput()
		in.Result.Plan, in.Result.Identity.Server = plan, server
		p := &in.Result.Points[0]
		p.Phase, p.Metrics.SystemTPS, p.Rate, p.Context = phase, &value, &value, ptr(int(value))
		for _, format := range Formats() {
			if format.Name != "json" {
				writeIfItCan(t, format, in)
			}
		}
	})
}
