package probes

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// machine gives a SUT of n equal, healthy GPUs on bare metal, and lets a test spoil it.
func healthy(n int, spoil func(*SUT)) SUT {
	const src = "test"
	var s SUT
	for range n {
		s.Accelerators.Items = append(s.Accelerators.Items, Accelerator{
			Vendor: Known("NVIDIA", src), PCI: PCI{Address: Known("0000:01:00.0", src), DeviceID: Known("0x2330", src)},
			PowerCapW: Known(700.0, src), PowerDefaultW: Known(700.0, src), DriverVersion: Known("590.48.01", src), VBIOS: Known("96", src), VRAMBytes: Known(int64(80<<30), src),
			Link: Link{GTS: Known(32.0, src), Width: Known(16, src), MaxGTS: Known(32.0, src), MaxWidth: Known(16, src)},
			ECC:  Known(true, src), Persistence: Known(true, src), Partition: Partition{Count: Known(1, src), Compute: NA[string]("off")},
		})
	}
	s.CPU.Governor = Known("performance", src)
	s.Memory = Memory{Bytes: Known(int64(2000)<<30, src), InstalledBytes: Known(int64(2048)<<30, src)}
	s.Storage.Filesystems.Items = []Filesystem{{Mount: Known("/", src), Bytes: Known(int64(1)<<40, src), FreeBytes: Known(int64(1)<<39, src)}}
	s.OS.Tuning = Tuning{
		NUMABalancing: Known(false, src), THP: Known("madvise", src), SwapBytes: Known(int64(0), src), ClockSynced: Known(true, src),
		FilesLimit: Known(int64(1<<20), src), CgroupCPUs: NA[float64]("none"), CgroupBytes: NA[int64]("none"),
	}
	s.System.Virtualization = Known("none", src)
	s.Software = Software{Docker: Known("29.2.1", src), ContainerToolkit: Known("1.17", src)}
	if spoil != nil {
		spoil(&s)
	}
	return s
}

func TestEvaluate(t *testing.T) {
	const src = "test"
	gpu := func(f func(*Accelerator)) func(*SUT) { return func(s *SUT) { f(&s.Accelerators.Items[1]) } }
	for _, tt := range []struct {
		id     string
		wanted any
		spoil  func(*SUT)
		want   CheckState
	}{
		{"gpu_count", 2, nil, CheckOK},
		{"gpu_count", 8, nil, CheckFail},
		{"gpu_count", float64(8), nil, CheckFail},
		{"gpu_count", "2", nil, CheckOK},
		{"gpu_count", "many", nil, CheckFail},
		{"gpu_count", 8, func(s *SUT) { s.Accelerators = List[Accelerator]{Unknown: "no driver"} }, CheckFail},
		{"gpu_count", nil, func(s *SUT) { s.Accelerators = List[Accelerator]{Unknown: "no driver"} }, CheckUnknown},
		{"gpu_count", 1, func(s *SUT) { s.Accelerators = List[Accelerator]{} }, CheckFail},
		{"power_cap", nil, nil, CheckOK},
		{"power_cap", nil, gpu(func(a *Accelerator) { a.PowerCapW.Value = 500 }), CheckWarn},
		{"power_cap", "default", gpu(func(a *Accelerator) { a.PowerCapW.Value = 500 }), CheckFail},
		{"power_cap", "required", gpu(func(a *Accelerator) { a.PowerCapW.Value = 500 }), CheckFail},
		{"power_cap", "required", gpu(func(a *Accelerator) { a.PowerCapW = Unknown[float64]("0 W") }), CheckFail},
		{"power_cap", nil, gpu(func(a *Accelerator) { a.PowerCapW = Unknown[float64]("0 W") }), CheckUnknown},
		{"power_cap", 700, nil, CheckOK},
		{"power_cap", 650, nil, CheckFail},
		{"throttle", nil, nil, CheckOK},
		{"throttle", nil, gpu(func(a *Accelerator) { a.Throttle.Items = []string{"sw_power_cap"} }), CheckWarn},
		{"throttle", nil, gpu(func(a *Accelerator) { a.Throttle.Items = []string{"sw_power_cap", "hw_power_brake_slowdown"} }), CheckFail},
		{"throttle", nil, gpu(func(a *Accelerator) { a.Throttle.Unknown = "gone" }), CheckUnknown},
		{"ecc", nil, gpu(func(a *Accelerator) { a.ECC.Value = false }), CheckWarn},
		{"ecc", nil, gpu(func(a *Accelerator) { a.ECC = NA[bool]("none") }), CheckOK},
		{"link", nil, nil, CheckOK},
		{"link", nil, gpu(func(a *Accelerator) { a.Link.Width.Value = 8 }), CheckFail},
		{"link", nil, gpu(func(a *Accelerator) { a.Link.GTS.Value = 16 }), CheckWarn},
		{"link", true, gpu(func(a *Accelerator) { a.Link.GTS.Value = 16 }), CheckFail},
		{"idle", "required", nil, CheckOK},
		{"idle", nil, gpu(func(a *Accelerator) { a.Processes.Items = []GPUProcess{{PID: Known(1, src)}} }), CheckFail},
		{"idle", nil, gpu(func(a *Accelerator) { a.Processes.Unknown = "hidden" }), CheckUnknown},
		{"persistence", nil, gpu(func(a *Accelerator) { a.Persistence.Value = false }), CheckWarn},
		{"driver_equal", nil, gpu(func(a *Accelerator) { a.DriverVersion.Value = "535" }), CheckWarn},
		{"driver_equal", "590.48.01", nil, CheckOK},
		{"driver_equal", "535", nil, CheckFail},
		{"partition", nil, gpu(func(a *Accelerator) { a.Partition.Count.Value = 8 }), CheckWarn},
		{"governor", nil, func(s *SUT) { s.CPU.Governor.Value = "powersave" }, CheckWarn},
		{"governor", "powersave", func(s *SUT) { s.CPU.Governor.Value = "powersave" }, CheckOK},
		{"thp", nil, func(s *SUT) { s.OS.Tuning.THP.Value = "never" }, CheckWarn},
		{"numa_balancing", nil, func(s *SUT) { s.OS.Tuning.NUMABalancing.Value = true }, CheckWarn},
		{"swap", nil, func(s *SUT) { s.OS.Tuning.SwapBytes.Value = 1 }, CheckWarn},
		{"memory", nil, func(s *SUT) { s.Memory.Bytes.Value /= 2 }, CheckWarn},
		{"memory", 4096, nil, CheckFail},
		{"memory", 1024, nil, CheckOK},
		{"disk_space", nil, func(s *SUT) { s.Storage.Filesystems.Items[0].FreeBytes.Value = 19 << 30 }, CheckWarn},
		{"disk_space", 1000, nil, CheckFail},
		{"disk_space", nil, func(s *SUT) { s.Storage.Filesystems = List[Filesystem]{} }, CheckUnknown},
		{"clock_sync", nil, func(s *SUT) { s.OS.Tuning.ClockSynced.Value = false }, CheckWarn},
		{"files_limit", nil, func(s *SUT) { s.OS.Tuning.FilesLimit.Value = 1024 }, CheckWarn},
		{"files_limit", nil, func(s *SUT) { s.OS.Tuning.FilesLimit = NA[int64]("unlimited") }, CheckOK},
		{"cpu_quota", nil, func(s *SUT) { s.OS.Tuning.CgroupCPUs = Known(2.0, src) }, CheckWarn},
		{"virtualization", nil, func(s *SUT) { s.System.Virtualization.Value = "kvm" }, CheckWarn},
		{"virtualization", "kvm", func(s *SUT) { s.System.Virtualization.Value = "kvm" }, CheckOK},
		{"container_runtime", nil, func(s *SUT) { s.Software.Docker = Unknown[string]("no socket") }, CheckWarn},
		{"container_runtime", nil, func(s *SUT) { s.Software.ContainerToolkit = Unknown[string]("none") }, CheckWarn},
	} {
		w := Wanted{}
		if tt.wanted != nil {
			w[tt.id] = tt.wanted
		}
		list := Evaluate(healthy(2, tt.spoil), w)
		i := slices.IndexFunc(list, func(c Check) bool { return c.ID == tt.id })
		if i < 0 {
			t.Errorf("%s %v: no such check", tt.id, tt.wanted)
			continue
		}
		c := list[i]
		if c.State != tt.want {
			t.Errorf("%s %v is %s, not %s: %s %v", tt.id, tt.wanted, c.State, tt.want, c.Text, c.Evidence)
		}
		if c.Text == "" || (c.State != CheckOK && c.Hint == "") {
			t.Errorf("%s %v says nothing: %+v", tt.id, tt.wanted, c)
		}
	}
}

// TestEvaluateList tests which checks there are at all.
func TestEvaluateList(t *testing.T) {
	for _, c := range Evaluate(healthy(8, nil), nil) {
		if c.State != CheckOK {
			t.Errorf("a healthy machine: %+v", c)
		}
	}
	if n := len(Evaluate(healthy(8, nil), nil)); n != len(checks()) {
		t.Errorf("%d checks of %d rules", n, len(checks()))
	}
	none := Evaluate(healthy(0, nil), Wanted{"ecc": "required", "swap": "ignore", "thp": false, "gpu_cuont": 8})
	var ids []string
	for _, c := range none {
		ids = append(ids, c.ID+" "+string(c.State))
	}
	got := strings.Join(ids, ", ")
	for _, want := range []string{"ecc fail", "gpu_cuont fail"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	for _, no := range []string{"swap", "thp", "link", "power_cap", "idle"} {
		if strings.Contains(got, no) {
			t.Errorf("%q in %s", no, got)
		}
	}
	if b, err := json.Marshal(none); err != nil || strings.Contains(string(b), `"evidence":null`) {
		t.Errorf("%v %s", err, b)
	}
}

func TestDrift(t *testing.T) {
	before := healthy(2, nil)
	if same := Drift(before, healthy(2, nil)); len(same) != 0 {
		t.Errorf("nothing changed, but %+v", same)
	}
	for code, spoil := range map[string]func(*SUT){
		"gpu_count": func(s *SUT) { s.Accelerators.Items = s.Accelerators.Items[:1] },
		"power_cap": func(s *SUT) { s.Accelerators.Items[1].PowerCapW.Value = 500 },
		"driver":    func(s *SUT) { s.Accelerators.Items[0].DriverVersion.Value = "600" },
		"link":      func(s *SUT) { s.Accelerators.Items[0].Link.Width = Unknown[int]("lost") },
		"gpu_mode":  func(s *SUT) { s.Accelerators.Items[0].Persistence.Value = false },
		"partition": func(s *SUT) { s.Accelerators.Items[0].Partition.Count.Value = 2 },
		"governor":  func(s *SUT) { s.CPU.Governor.Value = "powersave" },
		"kernel":    func(s *SUT) { s.OS.Kernel = Known("6.9", "uname") },
		"memory":    func(s *SUT) { s.Memory.Bytes.Value-- },
		"tuning":    func(s *SUT) { s.OS.Tuning.THP.Value = "never" },
		"software":  func(s *SUT) { s.Software.Docker.Value = "30" },
	} {
		got := Drift(before, healthy(2, spoil))
		if len(got) != 1 || got[0].Code != code || got[0].Text == "" || got[0].Evidence == "" {
			t.Errorf("%s: %+v", code, got)
		}
	}
	quiet := func(s *SUT) {
		s.ProbedAtUS, s.Storage.Filesystems.Items[0].FreeBytes.Value = 1, 5
		s.Accelerators.Items[0].Throttle.Items = []string{"sw_power_cap"}
		s.Accelerators.Items[0].PowerCapW.Source = "another"
	}
	if got := Drift(before, healthy(2, quiet)); len(got) != 0 {
		t.Errorf("what moves by itself is no drift: %+v", got)
	}
}

func TestPlain(t *testing.T) {
	s := healthy(1, nil)
	s.Schema, s.Accelerators.Items[0].Processes.Unknown = SchemaSUT, "hidden"
	b, err := Plain(s)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Schema       string `json:"schema"`
		Program      any    `json:"program"`
		Accelerators []struct {
			PowerCapW float64 `json:"power_cap_w"`
			Name      any     `json:"name"`
			Processes any     `json:"processes"`
			Throttle  []any   `json:"throttle"`
		} `json:"accelerators"`
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	a := doc.Accelerators[0]
	if doc.Schema != SchemaSUT || doc.Program == nil || a.PowerCapW != 700 || a.Name != nil || a.Processes != nil || a.Throttle == nil {
		t.Errorf("%+v\n%s", doc, b)
	}
	if i, j := strings.Index(string(b), `"system"`), strings.Index(string(b), `"cpu"`); i < 0 || i > j {
		t.Error("the keys lost their order")
	}
}
