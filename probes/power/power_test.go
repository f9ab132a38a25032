package power

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/probes/host"
	"assay/probes/sut"
)

// machine is a SUT with accelerators at these caps and two processors of a model.
func machine(model string, caps ...float64) *sut.SUT {
	s := &sut.SUT{CPU: sut.CPU{Model: sut.Known(model, "cpuinfo"), Sockets: sut.Known(2, "topology"), TDPW: sut.Unknown[float64]("no powercap")}}
	s.System.Virtualization = sut.Known("none", "cpuinfo")
	for _, w := range caps {
		s.Accelerators.Items = append(s.Accelerators.Items, sut.Accelerator{PowerCapW: sut.Known(w, "power1_cap")})
	}
	return s
}

func TestEstimate(t *testing.T) {
	eight := []float64{750, 750, 750, 750, 750, 750, 750, 750}
	mixed := []float64{700, 700, 600}
	for _, c := range []struct {
		name, model string
		caps        []float64
		want        float64
		method      string
	}{
		{"eight accelerators and two processors", "Intel(R) Xeon(R) Platinum 8460Y+", eight, 9900, "(8 × 750 W + 2 × 300 W) × 1.5: "},
		{"liquid is said beside air", "Intel(R) Xeon(R) Platinum 8460Y+", eight, 9900, "liquid cooling (× 1.3) would give 8580 W"},
		{"AMD's processors", "AMD EPYC 9654 96-Core Processor", eight, 10080, "(8 × 750 W + 2 × 360 W) × 1.5"},
		{"caps that differ", "AMD EPYC 7763 64-Core Processor", mixed, 3840, "(2 × 700 W + 1 × 600 W + 2 × 280 W) × 1.5"},
		{"no accelerator", "Intel(R) Xeon(R) Gold 6430", nil, 810, "(2 × 270 W) × 1.5: processors"},
		{"an APU's processors are in its cap", "AMD Instinct MI300A Accelerator", []float64{550, 550}, 1650, "(2 × 550 W) × 1.5"},
	} {
		s := machine(c.model, c.caps...)
		Provision(s)
		if s.Power.ProvisionedW.Value != c.want || s.Power.Source.Value != "estimate" || !strings.Contains(s.Power.Method.Value, c.method) {
			t.Errorf("%s: %+v, %q", c.name, s.Power.ProvisionedW, s.Power.Method.Value)
		}
	}
}

// TestCountedElsewhere: a GPU that is part of a processor, and a die whose limit stands at another, add nothing; a processor whose CPUs are
// off line does.
func TestCountedElsewhere(t *testing.T) {
	s := machine("AMD EPYC 9654 96-Core Processor", 560, 560, 15)
	s.Accelerators.Items[1].PowerCapW = sut.NA[float64]("at the first die")
	s.Accelerators.Items[2].Kind = sut.Known("integrated", "table")
	s.CPU.Sockets, s.CPU.PopulatedSockets = sut.Known(1, "topology"), sut.Known(2, "SMBIOS")
	Provision(s)
	if p := s.Power; p.ProvisionedW.Value != 1920 || !strings.Contains(p.Method.Value, "(1 × 560 W + 2 × 360 W) × 1.5") {
		t.Errorf("%+v %q", p.ProvisionedW, p.Method.Value)
	}
}

func TestNoEstimate(t *testing.T) {
	for why, change := range map[string]func(*sut.SUT){
		"a guest (vmware)": func(s *sut.SUT) {
			s.System.Virtualization.Value = "docker"
			s.System.Hypervisor = sut.Known("vmware", "cpuinfo")
		},
		"a guest (kvm)":                    func(s *sut.SUT) { s.System.Virtualization.Value = "kvm" },
		"no TDP is known for \"Some CPU\"": func(s *sut.SUT) { s.CPU.Model.Value = "Some CPU" },
		"the number of processors":         func(s *sut.SUT) { s.CPU.Sockets = sut.Unknown[int]("no topology") },
		"power cap of 0000:0a:00.0": func(s *sut.SUT) {
			s.Accelerators.Items[0] = sut.Accelerator{PCI: sut.PCI{Address: sut.Known("0000:0a:00.0", "bus")}}
		},
		"the bus could not be read": func(s *sut.SUT) { s.Accelerators = sut.List[sut.Accelerator]{Unknown: "the bus could not be read"} },
	} {
		s := machine("AMD EPYC 9654 96-Core Processor", 750)
		change(s)
		Provision(s)
		if s.Power.ProvisionedW.IsKnown() || !strings.Contains(s.Power.ProvisionedW.Unknown, why) || s.Power.Source.IsKnown() || s.Power.Method.IsKnown() {
			t.Errorf("%q: %+v", why, s.Power)
		}
	}
}

// TestOtherFigures: what a BMC and its supplies tell stands beside the rule's figure, and for it where the rule has none.
func TestOtherFigures(t *testing.T) {
	s := machine("AMD EPYC 9654 96-Core Processor", 750)
	s.Power.CapacityW, s.Power.SuppliesW = sut.Known(1628.0, "Power"), sut.Known(3000.0, "Power")
	s.Power.Redundancy = sut.Known("Failover, 1 of 2 needed", "Power")
	Provision(s)
	if p := s.Power.ProvisionedW; p.Value != 2205 || !strings.Contains(p.Other, "1628 W") || !strings.Contains(p.Other, "1500 W") {
		t.Errorf("%+v", p)
	}
	s.CPU.Model.Value = "Some CPU"
	s.CPU.TDPW = sut.Unknown[float64]("no powercap")
	Provision(s)
	if s.Power.ProvisionedW.Value != 1628 || s.Power.Source.Value != "redfish" {
		t.Errorf("%+v", s.Power)
	}
	s.Power.CapacityW = sut.Unknown[float64]("not told")
	Provision(s)
	if s.Power.ProvisionedW.Value != 1500 || s.Power.Source.Value != "psu" {
		t.Errorf("%+v", s.Power)
	}
}

func TestDesignPower(t *testing.T) {
	for model, want := range map[string]float64{
		"Intel(R) Xeon(R) Platinum 8480+": 350, "Intel(R) Xeon(R) CPU E5-2630 v3 @ 2.40GHz": 0, "AMD EPYC 7742 64-Core Processor": 225, "INTEL(R) XEON(R) PLATINUM 8592+": 0,
		"Intel(R) Xeon(R) Gold 6138 CPU @ 2.00GHz": 125, "Intel(R) Xeon(R) 6960P": 500, "AMD Ryzen Threadripper PRO 7975WX 32-Cores": 350, "": 0, "AMD EPYC 12": 0,
	} {
		if got, _ := publishedTDP(model); got != want {
			t.Errorf("%q: %g W, not %g", model, got, want)
		}
	}
	c := sut.CPU{Model: sut.Known("AMD EPYC 9654 96-Core Processor", "cpuinfo"), TDPW: sut.Known(400.0, "powercap")}
	if f := designPower(c); f.Value != 360 || !strings.Contains(f.Other, "powercap says 400") {
		t.Errorf("%+v", f)
	}
	c.Model.Value = "Some CPU"
	if f := designPower(c); f.Value != 400 || f.Source != "powercap" {
		t.Errorf("%+v", f)
	}
	seen := map[string]bool{}
	for _, row := range tdps() {
		for name := range strings.FieldsSeq(row.models) {
			if seen[name] {
				t.Errorf("%s stands in the table twice", name)
			}
			seen[name] = true
		}
	}
}

const (
	mcInfo  = "Device ID                 : 32\nDevice Revision           : 1\nFirmware Revision         : 6.10\nIPMI Version              : 2.0\nManufacturer ID           : 674\nManufacturer Name         : DELL Inc\n"
	reading = "\n    Instantaneous power reading:                   429 Watts\n    Minimum during sampling period:                 42 Watts\n    Power reading state is:                   activated\n\n"
	limit   = "\n    Current Limit State: Power Limit Active\n    Exception actions:   Hard Power Off & Log Event to SEL\n    Power Limit:         500   Watts\n    Correction time:     1000 milliseconds\n"
	sdr     = "Status           | 77h | ok  | 10.1 | Presence detected\nStatus           | 78h | ok  | 10.2 | Presence detected, Power Supply AC lost\nPS Redundancy    | 76h | ok  |  7.1 | Fully Redundant\nStatus           | 79h | ns  | 10.3 | Disabled\n"
)

// folder makes a capture of these files.
func folder(t *testing.T, files map[string]string) host.Host {
	t.Helper()
	dir := t.TempDir()
	files["proc/cmdline"] = "quiet"
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	h, done, err := host.FromCapture(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { done() })
	return h
}

func TestIPMI(t *testing.T) {
	h := folder(t, map[string]string{
		"commands.json": `[{"argv":["ipmitool","mc","info"],"stdout":"a"},{"argv":["ipmitool","dcmi","power","reading"],"stdout":"b"},{"argv":["ipmitool","sdr","type","Power Supply"],"stdout":"c"},
			{"argv":["ipmitool","dcmi","power","get_limit"],"stdout":"d"}]`,
		"a": mcInfo, "b": reading, "c": sdr, "d": limit,
	})
	var s sut.SUT
	if err := Probe(context.Background(), h, &s); err != nil {
		t.Fatal(err)
	}
	if s.System.BMC.Value != "DELL Inc 6.10" || s.Power.InputW.Value != 429 || s.Power.LimitW.Value != 500 || len(s.Power.Supplies.Items) != 2 {
		t.Fatalf("%+v %+v", s.System.BMC, s.Power)
	}
	if list := s.Power.Supplies.Items; list[0].Health.Value != "OK" || list[1].Health.Value != "Critical" {
		t.Errorf("%+v", list)
	}
}

func TestIPMIWithoutAnswer(t *testing.T) {
	for want, files := range map[string]map[string]string{
		"there is no /dev/ipmi0":    {"failed.json": `{"/dev/ipmi0":"does not exist","/dev/ipmi/0":"does not exist"}`},
		"ipmitool is not installed": {},
		"needs root (ipmitool)":     {"commands.json": `[{"argv":["ipmitool","mc","info"],"exit":1,"stdout":"a","stderr":"e"}]`, "a": "", "e": "Could not open device at /dev/ipmi0 or /dev/ipmi/0: No such file"},
		"prints no Firmware":        {"commands.json": `[{"argv":["ipmitool","mc","info"],"stdout":"a"}]`, "a": "garbage"},
		"took too long":             {"commands.json": `[{"argv":["ipmitool","mc","info"],"failed":"ipmitool took too long and was stopped"}]`},
	} {
		var s sut.SUT
		if err := Probe(context.Background(), folder(t, files), &s); err != nil {
			t.Fatal(err)
		}
		if s.System.BMC.IsKnown() || !strings.Contains(s.System.BMC.Unknown, want) {
			t.Errorf("%q: %+v", want, s.System.BMC)
		}
	}
}

func TestLimit(t *testing.T) {
	if f := parseLimit("Current Limit State: No Active Power Limit\nPower Limit: 0 Watts\n"); f.NA == "" || f.IsKnown() {
		t.Errorf("%+v", f)
	}
	if f := parseLimit("Current Limit State: Power Limit Active\nPower Limit: many\n"); f.IsKnown() || f.Unknown == "" {
		t.Errorf("%+v", f)
	}
}

func TestMeter(t *testing.T) {
	h := folder(t, map[string]string{"sys/class/hwmon/hwmon0/name": "coretemp", "sys/class/hwmon/hwmon3/name": "power_meter", "sys/class/hwmon/hwmon3/power1_average": "412000000"})
	var s sut.SUT
	if err := Probe(context.Background(), h, &s); err != nil || s.Power.InputW.Value != 412 {
		t.Errorf("%v %+v", err, s.Power.InputW)
	}
}

func FuzzIPMI(f *testing.F) {
	for _, s := range []string{mcInfo, reading, limit, sdr, "a|b|c|d|presence detected", "Instantaneous power reading: NaN Watts", "Firmware Revision: "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if w := parseDCMI(s); w.IsKnown() && !(w.Value > 0 && w.Value <= 1e6) {
			t.Errorf("%q gives %g W", s, w.Value)
		}
		if w := parseLimit(s); w.IsKnown() && !(w.Value > 0 && w.Value <= 1e6) {
			t.Errorf("%q gives a limit of %g W", s, w.Value)
		}
		if b := parseMC(s); b.IsKnown() && b.Value == "" {
			t.Errorf("%q gives an empty BMC", s)
		}
		if l := parseSDR(s); (len(l.Items) == 0) != (l.Unknown != "") {
			t.Errorf("%q gives %+v", s, l)
		}
	})
}

func FuzzPublishedTDP(f *testing.F) {
	f.Add("AMD EPYC 9654 96-Core Processor")
	f.Fuzz(func(t *testing.T, s string) {
		if w, ok := publishedTDP(s); ok && (w < 50 || w > 600) {
			t.Errorf("%q has %g W", s, w)
		}
	})
}
