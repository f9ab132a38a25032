package check

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"assay/probes/sut"
)

func TestEvaluate(t *testing.T) {
	gpu := func(f func(*sut.Accelerator)) func(*sut.SUT) { return func(s *sut.SUT) { f(&s.Accelerators.Items[1]) } }
	states := map[string]map[State]bool{}
	for _, tt := range []struct {
		id     string
		wanted any
		spoil  func(*sut.SUT)
		want   State
	}{
		{"gpu_count", 2, nil, OK},
		{"gpu_count", 8, nil, Fail},
		{"gpu_count", float64(8), nil, Fail},
		{"gpu_count", "2", nil, OK},
		{"gpu_count", "many", nil, Fail},
		{"gpu_count", 8, func(s *sut.SUT) { s.Accelerators = sut.List[sut.Accelerator]{Unknown: "no driver"} }, Fail},
		{"gpu_count", nil, func(s *sut.SUT) { s.Accelerators = sut.List[sut.Accelerator]{Unknown: "no driver"} }, Unknown},
		{"gpu_count", 1, func(s *sut.SUT) { s.Accelerators = sut.List[sut.Accelerator]{} }, Fail},
		{"gpu_count", nil, nil, OK},
		{"gpu_count", nil, gpu(func(a *sut.Accelerator) {
			*a = sut.Accelerator{Usable: known(false), VRAMBytes: sut.Unknown[int64]("is lost")}
		}), Fail},
		{"gpu_count", nil, gpu(func(a *sut.Accelerator) { *a = sut.Accelerator{PCI: a.PCI} }), Unknown},
		{"gpu_count", 2, gpu(func(a *sut.Accelerator) { *a = sut.Accelerator{PCI: a.PCI} }), Fail},
		{"gpu_count", []any{"relaxed", 8}, nil, Warn},
		{"gpu_count", nil, func(s *sut.SUT) { s.Accelerators.Items = nil }, OK},
		{"power_cap", nil, func(s *sut.SUT) { deaf(s) }, Unknown},
		{"power_cap", nil, nil, OK},
		{"power_cap", []any{"relaxed", 600}, nil, Warn},
		{"power_cap", []any{"required", 600}, nil, Fail},
		{"power_cap", "relaxed", gpu(func(a *sut.Accelerator) { a.PowerCapW = sut.Unknown[float64]("0 W") }), Unknown},
		{"power_cap", nil, gpu(func(a *sut.Accelerator) { a.PowerCapW.Value = 500 }), Warn},
		{"power_cap", "default", gpu(func(a *sut.Accelerator) { a.PowerCapW.Value = 500 }), Fail},
		{"power_cap", "required", gpu(func(a *sut.Accelerator) { a.PowerCapW.Value = 500 }), Fail},
		{"power_cap", "required", gpu(func(a *sut.Accelerator) { a.PowerCapW = sut.Unknown[float64]("0 W") }), Fail},
		{"power_cap", nil, gpu(func(a *sut.Accelerator) { a.PowerCapW = sut.Unknown[float64]("0 W") }), Unknown},
		{"power_cap", 700, nil, OK},
		{"power_cap", 650, nil, Fail},
		{"throttle", nil, nil, OK},
		{"throttle", nil, gpu(func(a *sut.Accelerator) { a.Throttle.Items = []string{"sw_power_cap"} }), Warn},
		{"throttle", nil, gpu(func(a *sut.Accelerator) { a.Throttle.Items = []string{"sw_power_cap", "hw_power_brake_slowdown"} }), Fail},
		{"throttle", nil, gpu(func(a *sut.Accelerator) { a.Throttle.Unknown = "gone" }), Unknown},
		{"ecc", nil, gpu(func(a *sut.Accelerator) { a.ECC.Value = false }), Warn},
		{"ecc", nil, gpu(func(a *sut.Accelerator) { a.ECC = sut.NA[bool]("none") }), OK},
		{"ecc", "required", func(s *sut.SUT) { s.Accelerators = sut.List[sut.Accelerator]{Unknown: "no driver"} }, Fail},
		{"ecc", nil, gpu(func(a *sut.Accelerator) { *a = sut.Accelerator{} }), OK},
		{"gpu_errors", nil, gpu(func(a *sut.Accelerator) { a.ECC, a.RAS = known(false), sut.RAS{} }), OK},
		{"link", nil, nil, OK},
		{"link", nil, gpu(func(a *sut.Accelerator) { a.Link.Width.Value = 8 }), Fail},
		{"link", nil, gpu(func(a *sut.Accelerator) { a.Link.GTS.Value = 16 }), Warn},
		{"link", true, gpu(func(a *sut.Accelerator) { a.Link.GTS.Value = 16 }), Fail},
		{"idle", "required", nil, OK},
		{"idle", nil, gpu(func(a *sut.Accelerator) { a.Processes.Items = []sut.GPUProcess{{PID: sut.Known(1, src)}} }), Fail},
		{"idle", "relaxed", gpu(func(a *sut.Accelerator) { a.Processes.Items = []sut.GPUProcess{{PID: sut.Known(1, src)}} }), Warn},
		{"idle", nil, gpu(func(a *sut.Accelerator) {
			a.Processes.Items = []sut.GPUProcess{{Name: sut.Known("/usr/bin/dcgm-exporter", src)}}
		}), OK},
		{"idle", nil, gpu(func(a *sut.Accelerator) { a.Processes.Unknown = "hidden" }), Unknown},
		{"persistence", nil, gpu(func(a *sut.Accelerator) { a.Persistence.Value = false }), Warn},
		{"driver_equal", nil, gpu(func(a *sut.Accelerator) { a.DriverVersion.Value = "535" }), Warn},
		{"driver_equal", "590.48.01", nil, OK},
		{"driver_equal", nil, gpu(func(a *sut.Accelerator) { a.VRAMBytes.Value /= 2 }), Fail},
		{"driver_equal", nil, func(s *sut.SUT) {
			for i, version := range []string{"0x55", "0x56"} {
				s.Accelerators.Items[i].Firmware.Items = []sut.Firmware{{Name: known("smc"), Version: known(version)}}
			}
		}, Warn},
		{"driver_equal", nil, gpu(func(a *sut.Accelerator) { a.Partition.Compute = known("CPX") }), Fail},
		{"driver_equal", "535", nil, Fail},
		{"partition", nil, gpu(func(a *sut.Accelerator) { a.Partition.Count.Value = 8 }), Warn},
		{"governor", nil, func(s *sut.SUT) { s.CPU.Governor.Value = "powersave" }, Warn},
		{"governor", "powersave", func(s *sut.SUT) { s.CPU.Governor.Value = "powersave" }, OK},
		{"thp", nil, func(s *sut.SUT) { s.OS.Tuning.THP.Value = "never" }, Warn},
		{"numa_balancing", nil, func(s *sut.SUT) { s.OS.Tuning.NUMABalancing.Value = true }, Warn},
		{"swap", nil, func(s *sut.SUT) { s.OS.Tuning.SwapBytes.Value = 1 }, Warn},
		{"memory", nil, func(s *sut.SUT) { s.Memory.Bytes.Value /= 2 }, Warn},
		{"memory", 4096, nil, Fail},
		{"memory", 1024, nil, OK},
		{"disk_space", nil, func(s *sut.SUT) { s.Storage.Filesystems.Items[0].FreeBytes.Value = 19 << 30 }, Warn},
		{"disk_space", 1000, nil, Fail},
		{"disk_space", nil, func(s *sut.SUT) { s.Storage.Filesystems = sut.List[sut.Filesystem]{} }, Unknown},
		{"clock_sync", nil, func(s *sut.SUT) { s.OS.Tuning.ClockSynced.Value = false }, Warn},
		{"files_limit", nil, func(s *sut.SUT) { s.OS.Tuning.FilesLimit.Value = 1024 }, Warn},
		{"files_limit", nil, func(s *sut.SUT) { s.OS.Tuning.FilesLimit = sut.NA[int64]("unlimited") }, OK},
		{"cpu_quota", nil, func(s *sut.SUT) { s.OS.Tuning.CgroupCPUs = sut.Known(2.0, src) }, Warn},
		{"virtualization", nil, func(s *sut.SUT) { s.System.Virtualization.Value = "kvm" }, Warn},
		{"virtualization", "kvm", func(s *sut.SUT) { s.System.Virtualization.Value = "kvm" }, OK},
		{"container_runtime", nil, func(s *sut.SUT) { s.Software.Docker = sut.Unknown[string]("no socket") }, Warn},
		{"container_runtime", nil, func(s *sut.SUT) {
			s.Software.Docker = sut.Unknown[string]("needs root or the group docker: /var/run/docker.sock is not readable by this user")
		}, Unknown},
		{"container_runtime", nil, func(s *sut.SUT) { s.Software.ContainerToolkit = sut.Unknown[string]("none") }, Warn},
		{"container_runtime", nil, func(s *sut.SUT) {
			s.Software.ContainerToolkit = sut.Unknown[string]("none")
			s.Accelerators.Items = append([]sut.Accelerator{{Vendor: known("Intel"), Kind: known("integrated")}}, s.Accelerators.Items...)
		}, Warn},
		{"driver_equal", nil, gpu(func(a *sut.Accelerator) { a.PowerCapW.Value = 650 }), Warn},
		{"driver_equal", nil, secondDie, OK},
		{"power_cap", nil, secondDie, OK},
		{"driver_mixed", nil, nil, OK},
		{"driver_mixed", nil, gpu(func(a *sut.Accelerator) { a.DriverVersion.Value = "535" }), Warn},
		{"driver_mixed", nil, func(s *sut.SUT) { s.Software.NVIDIADriver.Other = "595 in /usr/lib" }, Warn},
		{"clocks", nil, nil, OK},
		{"clocks", nil, gpu(func(a *sut.Accelerator) { a.PerfLevel.Value = "manual" }), Warn},
		{"clocks", 1900, nil, OK},
		{"clocks", 2100, nil, Fail},
		{"throttle", nil, gpu(func(a *sut.Accelerator) { counts(a, "power", 500) }), OK},
		{"throttle", nil, gpu(func(a *sut.Accelerator) { counts(a, "hbm_thermal", 11) }), Warn},
		{"throttle", nil, gpu(func(a *sut.Accelerator) { counts(a, "hbm_thermal", 10) }), OK},
		{"temperature", nil, nil, OK},
		{"temperature", nil, gpu(func(a *sut.Accelerator) { a.Temperatures.HotspotC.Value = 60 }), Warn},
		{"temperature", nil, gpu(func(a *sut.Accelerator) { a.Temperatures.HotspotC.Value = 85 }), Fail},
		{"temperature", nil, gpu(func(a *sut.Accelerator) { a.Temperatures.MemC.Value = 70 }), Warn},
		{"temperature", 30, nil, Fail},
		{"temperature", nil, gpu(func(a *sut.Accelerator) { a.Temperatures = sut.Temperatures{EdgeC: known(40.0), MarginC: known(3.0)} }), Fail},
		{"temperature", nil, gpu(func(a *sut.Accelerator) { a.Temperatures = sut.Temperatures{EdgeC: known(40.0), MarginC: known(-3.0)} }), Fail},
		{"temperature", nil, gpu(func(a *sut.Accelerator) {
			a.Temperatures = sut.Temperatures{EdgeC: known(40.0), EdgeLimitC: known(44.0)}
		}), Fail},
		{"gpu_errors", nil, nil, OK},
		{"gpu_errors", nil, gpu(func(a *sut.Accelerator) { a.RAS.Uncorrectable.Value = 1 }), Fail},
		{"gpu_errors", nil, gpu(func(a *sut.Accelerator) { a.RAS.FabricUncorrectable = known(int64(2)) }), Fail},
		{"bad_pages", nil, gpu(func(a *sut.Accelerator) { a.RAS.BadPages.Value = 1 }), Warn},
		{"bad_pages", nil, gpu(func(a *sut.Accelerator) { a.RAS.BadPages.Value = 128 }), Fail},
		{"bad_pages", nil, gpu(func(a *sut.Accelerator) { a.RAS.PendingPages.Value = 1 }), Fail},
		{"bad_pages", nil, gpu(func(a *sut.Accelerator) { a.RAS.RemapFailed.Value = true }), Fail},
		{"recovery", nil, nil, OK},
		{"recovery", nil, gpu(func(a *sut.Accelerator) { a.RAS.RecoveryAction.Value = "reset" }), Fail},
		{"kernel_log", nil, nil, OK},
		{"kernel_log", nil, logged("nvidia_xid_79"), Fail},
		{"kernel_log", nil, logged("amdgpu_reset"), Fail},
		{"kernel_log", nil, logged("nvidia_xid_13"), Warn},
		{"kernel_log", nil, logged("amdgpu_oversubscribed"), Warn},
		{"kernel_log", nil, func(s *sut.SUT) { s.OS.KernelLog.Unknown = "needs root" }, Unknown},
		{"pcie_errors", nil, nil, OK},
		{"pcie_errors", nil, gpu(func(a *sut.Accelerator) { a.LinkErrors.Replays.Value = 101 }), Warn},
		{"pcie_errors", nil, gpu(func(a *sut.Accelerator) { a.LinkErrors.AERFatal.Value = 1 }), Fail},
		{"pcie_errors", nil, gpu(func(a *sut.Accelerator) { a.LinkErrors = sut.LinkErrors{} }), Unknown},
		{"link", nil, gpu(func(a *sut.Accelerator) { a.Link.SlotMaxWidth = known(8) }), Warn},
		{"fabric", nil, nil, OK},
		{"fabric", nil, gpu(func(a *sut.Accelerator) { a.NVLinks, a.Fabric = sut.Unknown[int]("nvlink -s fails"), sut.Fabric{} }), Unknown},
		{"fabric", nil, gpu(func(a *sut.Accelerator) { a.NVLinks, a.Fabric = sut.NA[int]("it has none"), sut.Fabric{} }), OK},
		{"fabric", nil, gpu(func(a *sut.Accelerator) { a.NVLinks.Value = 17 }), Fail},
		{"fabric", nil, gpu(func(a *sut.Accelerator) { a.Fabric.LinksDown.Value = 1 }), Fail},
		{"fabric", nil, gpu(func(a *sut.Accelerator) { a.Fabric.State.Value = "in progress" }), Fail},
		{"fabric", nil, func(s *sut.SUT) {
			s.Interconnect = sut.Interconnect{Kind: known("xgmi"), Hives: known(1)}
			for i := range s.Accelerators.Items {
				s.Accelerators.Items[i].XGMIPeers, s.Accelerators.Items[i].NVLinks = known(0), sut.NA[int]("NVIDIA's link")
			}
		}, Fail},
		{"acs", nil, nil, OK},
		{"acs", nil, gpu(func(a *sut.Accelerator) { a.Link.ACSRedirect.Value = true }), Warn},
		{"acs", nil, gpu(func(a *sut.Accelerator) { a.Link.ACSRedirect = sut.Unknown[bool]("needs root") }), Unknown},
		{"p2p", nil, nil, OK},
		{"p2p", nil, gpu(func(a *sut.Accelerator) { a.P2PPeers.Value = 0 }), Warn},
		{"idle", nil, gpu(func(a *sut.Accelerator) { a.UtilPct.Value = 5 }), Fail},
		{"vram_free", nil, nil, OK},
		{"vram_free", nil, gpu(func(a *sut.Accelerator) { a.VRAMUsedBytes.Value = 900 << 20 }), Fail},
		{"vram_free", nil, gpu(func(a *sut.Accelerator) { a.VRAMBytes.Value, a.VRAMUsedBytes.Value = 192<<30, 900<<20 }), OK},
		{"vram_free", 81, nil, Fail},
		{"vram_free", 79, nil, OK},
		{"vram_free", nil, gpu(func(a *sut.Accelerator) { a.VRAMBytes = sut.NA[int64]("unified") }), OK},
		{"persistence", nil, nil, OK},
		{"partition", "SPX/NPS1", gpu(func(a *sut.Accelerator) { a.Partition.Compute, a.Partition.Memory = known("SPX"), known("NPS4") }), Fail},
		{"partition", "CPX", gpu(func(a *sut.Accelerator) { a.Partition.Compute = sut.NA[string]("it cannot be divided") }), Fail},
		{"partition", nil, nil, OK},
		{"partition", nil, gpu(func(a *sut.Accelerator) { a.Partition.Compute = sut.Unknown[string]("not in the capture") }), Unknown},
		{"partition", nil, aPartIsMissing, Fail},
		{"partition", "CPX", aPartIsMissing, Fail},
		{"swap", nil, nil, OK},
		{"numa_balancing", nil, nil, OK},
		{"thp", nil, nil, OK},
		{"memory_errors", nil, nil, OK},
		{"memory_errors", nil, func(s *sut.SUT) { s.Memory.EDAC.Uncorrectable.Value = 1 }, Fail},
		{"memory", nil, func(s *sut.SUT) { s.OS.Tuning.CgroupBytes = known(int64(1 << 30)) }, Warn},
		{"iommu", nil, nil, OK},
		{"iommu", nil, func(s *sut.SUT) { s.OS.Tuning.IOMMU.Value = "DMA-FQ" }, Warn},
		{"aspm", nil, nil, OK},
		{"aspm", nil, func(s *sut.SUT) { s.OS.Tuning.ASPM.Value = "powersave" }, Warn},
		{"taint", nil, nil, OK},
		{"taint", nil, func(s *sut.SUT) { s.OS.Taint.Value = []string{"machine_check"} }, Fail},
		{"power_supplies", nil, nil, OK},
		{"power_supplies", nil, func(s *sut.SUT) { s.Power.Supplies.Items[0].Health.Value = "Critical" }, Fail},
		{"power_supplies", nil, func(s *sut.SUT) { s.Power.Supplies.Items[0].Health.Value = "Warning" }, Warn},
		{"power_supplies", nil, func(s *sut.SUT) { s.Power.Supplies.Unknown = "no BMC answers" }, Unknown},
		{"gpu_count", nil, gpu(func(a *sut.Accelerator) { a.Usable = known(false) }), Fail},
		{"host_load", nil, nil, OK},
		{"host_load", nil, func(s *sut.SUT) { s.OS.Load1.Value = 13 }, Warn},
		{"host_load", 0.001, nil, Fail},
		{"disk_kind", "nvme", nil, OK},
		{"disk_kind", "hdd", nil, Fail},
		{"disk_health", nil, nil, OK},
		{"disk_health", nil, func(s *sut.SUT) { s.Storage.Filesystems.Items[0].Degraded.Value = 1 }, Fail},
		{"disk_health", nil, func(s *sut.SUT) { s.Storage.Devices.Items[0].Health.CriticalWarning.Value = 4 }, Fail},
		{"disk_health", nil, func(s *sut.SUT) { s.Storage.Devices.Items[0].Health.MediaErrors.Value = 4 }, Warn},
		{"disk_health", nil, func(s *sut.SUT) { s.Storage.Devices.Items[0].Health = sut.Health{} }, Unknown},
		{"clocksource", nil, nil, OK},
		{"clocksource", nil, func(s *sut.SUT) { s.OS.Tuning.Clocksource.Value = "hpet" }, Warn},
		{"clock_sync", nil, nil, OK},
		{"network_links", nil, nil, OK},
		{"network_links", 2, nil, Fail},
		{"network_links", nil, func(s *sut.SUT) { s.Network.Interfaces.Items[0].SpeedMbps.Value = 1000 }, Warn},
		{"network_links", nil, func(s *sut.SUT) { s.Network.InfiniBand.Items[0].State.Value = "INIT" }, Warn},
		{"ports", nil, nil, OK},
		{"ports", nil, func(s *sut.SUT) { s.Network.Listening.Value = []int{22, 8000} }, Fail},
		{"ports", nil, func(s *sut.SUT) { s.Network.Listening = sut.Unknown[[]int]("not readable") }, Unknown},
		{"processes_limit", nil, nil, OK},
		{"processes_limit", nil, func(s *sut.SUT) { s.OS.Tuning.ProcessesLimit.Value = 1024 }, Warn},
		{"memlock_limit", nil, nil, OK},
		{"memlock_limit", nil, func(s *sut.SUT) { s.OS.Tuning.MemlockBytes = known(int64(8 << 20)) }, Warn},
		{"memlock_limit", 1, func(s *sut.SUT) { s.OS.Tuning.MemlockBytes = known(int64(8 << 20)) }, Fail},
		{"cpu_quota", nil, nil, OK},
		{"container_runtime", nil, nil, OK},
	} {
		w := Wanted{}
		if tt.wanted != nil {
			w[tt.id] = tt.wanted
		}
		list := Evaluate(Request{SUT: healthy(2, tt.spoil), Wanted: w, Ports: []int{8000}})
		i := slices.IndexFunc(list, func(c Check) bool { return c.ID == tt.id })
		if i < 0 {
			t.Errorf("%s %v: no such check", tt.id, tt.wanted)
			continue
		}
		c := list[i]
		if states[tt.id] == nil {
			states[tt.id] = map[State]bool{}
		}
		states[tt.id][c.State] = true
		if c.State != tt.want {
			t.Errorf("%s %v is %s, not %s: %s %v", tt.id, tt.wanted, c.State, tt.want, c.Text, c.Evidence)
		}
		if c.Text == "" || (c.State != OK && c.Hint == "") {
			t.Errorf("%s %v says nothing: %+v", tt.id, tt.wanted, c)
		}
	}
	for _, r := range checks() {
		if len(states[r.ID]) < 2 && r.ID != "driver_image" { // which has a test of its own
			t.Errorf("%s was seen in the states %v only", r.ID, states[r.ID])
		}
	}
}

// TestPortHolder: who holds a port is named where it is seen.
func TestPortHolder(t *testing.T) {
	taken := healthy(0, func(s *sut.SUT) { s.Network.Listening.Value = []int{8000} })
	for want, holder := range map[string]func(int) string{
		"Something listens on port 8000 already.":                    nil,
		"Something listens on port 8000 already: haproxy (pid 812).": func(int) string { return "haproxy (pid 812)" },
	} {
		if c, _ := checkPorts(Request{SUT: taken, Ports: []int{8000}, PortHolder: holder}); c.Text != want {
			t.Errorf("%s, want %s", c.Text, want)
		}
	}
}

// deaf makes GPUs of which none answers.
func deaf(s *sut.SUT) {
	for i := range s.Accelerators.Items {
		s.Accelerators.Items[i] = sut.Accelerator{PCI: s.Accelerators.Items[i].PCI, Usable: sut.Known(false, "nvidia-smi exits 9")}
	}
}

// aPartIsMissing makes GPUs in CPX mode, one of which lists 7 of its 8 parts.
func aPartIsMissing(s *sut.SUT) {
	for i := range s.Accelerators.Items {
		s.Accelerators.Items[i].Partition = sut.Partition{Compute: known("CPX"), Count: known(8), Instances: sut.List[string]{Items: make([]string, 8)}}
	}
	p := &s.Accelerators.Items[1].Partition
	p.Count, p.Instances.Items = sut.Unknown[int]("the driver lists 7 of 8 partitions of this GPU"), p.Instances.Items[:7]
}

// TestSilentGPUs: GPUs whose driver or tool is dead fail gpu_count with its words and what to do, the dead ones first; what else is not
// known of them is listed as not known.
func TestSilentGPUs(t *testing.T) {
	find := func(s sut.SUT, id string) Check {
		list := Evaluate(Request{SUT: s})
		i := slices.IndexFunc(list, func(c Check) bool { return c.ID == id })
		if i < 0 {
			t.Fatalf("no %s in %+v", id, list)
		}
		return list[i]
	}
	all := healthy(8, deaf)
	if c := find(all, "gpu_count"); c.State != Fail || !strings.Contains(c.Evidence[0], "nvidia-smi exits 9") || !strings.Contains(c.Hint, "driver") {
		t.Errorf("%+v", c)
	}
	for _, id := range []string{"throttle", "ecc", "link", "bad_pages"} {
		if c := find(all, id); c.State != Unknown || !strings.Contains(c.Text, "nvidia-smi exits 9") {
			t.Errorf("%+v", c)
		}
	}
	one := healthy(8, func(s *sut.SUT) {
		s.Accelerators.Items[6] = sut.Accelerator{PCI: s.Accelerators.Items[6].PCI, Usable: sut.Known(false, "GPU is lost")}
	})
	if c := find(one, "gpu_count"); !strings.Contains(c.Evidence[0], "0000:07:00.0") || !strings.Contains(c.Evidence[0], "GPU is lost") || len(c.Evidence) != 8 {
		t.Errorf("the dead one is not named first: %+v", c)
	}
	if c := find(healthy(2, aPartIsMissing), "partition"); !strings.Contains(c.Evidence[0], "7 of 8") {
		t.Errorf("the broken one is not named first: %+v", c)
	}
	if c := find(healthy(0, nil), "gpu_count"); c.State != OK || !strings.Contains(c.Text, "no accelerator") {
		t.Errorf("no accelerator is not said: %+v", c)
	}
}

// counts makes a GPU one that counts why its clocks are held down, and does not tell the moment's reasons.
func counts(a *sut.Accelerator, reason string, ticks int64) {
	a.Throttle.Unknown = "gpu_metrics 1.7 has none"
	a.ThrottleCounters.Items = []sut.ThrottleCounter{{Reason: known(reason), Ticks: known(ticks), OfTicks: known(int64(1000))}}
}

func logged(code string) func(*sut.SUT) {
	return func(s *sut.SUT) {
		s.OS.KernelLog.Items = []sut.LogEvent{{Code: known(code), Count: known(1), Line: known("the line")}}
	}
}

// TestValueForNothing: a value that a check cannot compare with is the plan's fault, and not passed over.
func TestValueForNothing(t *testing.T) {
	for asked, want := range map[any]State{"off": Fail, 5: Fail, "required": OK, true: OK} {
		for _, c := range Evaluate(Request{SUT: healthy(2, nil), Wanted: Wanted{"ecc": asked}}) {
			if c.ID == "ecc" && c.State != want {
				t.Errorf("ecc: %v: %+v", asked, c)
			}
		}
	}
}

// TestEvaluateList tests which checks there are at all.
func TestEvaluateList(t *testing.T) {
	all := Evaluate(Request{SUT: healthy(8, nil), Ports: []int{8000}, ModelPath: "/models/llm", Image: &sut.Image{CUDA: known("12.4")}})
	for _, c := range all {
		if c.State != OK {
			t.Errorf("a healthy machine: %+v", c)
		}
	}
	if n := len(all); n != len(checks()) {
		t.Errorf("%d checks of %d rules", n, len(checks()))
	}
	none := Evaluate(Request{SUT: healthy(0, nil), Wanted: Wanted{"ecc": "required", "swap": "ignore", "thp": false, "gpu_cuont": 8}})
	var ids []string
	for _, c := range none {
		ids = append(ids, c.ID+" "+string(c.State))
	}
	got := ", " + strings.Join(ids, ", ")
	for _, want := range []string{"ecc fail", "gpu_cuont fail"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	for _, no := range []string{"swap", "thp", "link", "power_cap", "idle"} {
		if strings.Contains(got, ", "+no+" ") {
			t.Errorf("%q in %s", no, got)
		}
	}
	if b, err := json.Marshal(none); err != nil || strings.Contains(string(b), `"evidence":null`) {
		t.Errorf("%v %s", err, b)
	}
}

// TestAdviceGoesWithTheWanted: what to do is said for the value that the plan wants, not against it.
func TestAdviceGoesWithTheWanted(t *testing.T) {
	for id, tt := range map[string]struct {
		want any
		says string
	}{
		"thp": {"never", "echo never >"}, "iommu": {"DMA", "type is DMA"}, "governor": {"powersave", "-g powersave"}, "aspm": {"powersave", "echo powersave >"},
		"clocksource": {"hpet", "clocksource=hpet"}, "virtualization": {"kvm", "is kvm"},
	} {
		for _, c := range Evaluate(Request{SUT: healthy(2, nil), Wanted: Wanted{id: tt.want}}) {
			if c.ID == id && (c.State != Fail || !strings.Contains(c.Hint, tt.says)) {
				t.Errorf("%+v", c)
			}
		}
	}
}

// TestHostLoad: a load above a tenth of the CPUs is no rest, whatever the plan allows, and the sentence has the limit.
func TestHostLoad(t *testing.T) {
	s := healthy(1, func(s *sut.SUT) { s.OS.Load1, s.CPU.Threads = known(8.65), known(2) })
	for want, says := range map[any]string{50: "A load of 8.65 on 2 CPUs; 100 are allowed, 50 for each.", 0.1: "8.65 processes run or wait on 2 CPUs; 0.2 are allowed, 0.1 for each."} {
		if c, _ := checkHostLoad(Request{SUT: s}, want); c.Text != says {
			t.Errorf("%v: %s", want, c.Text)
		}
	}
}

// TestModelThatIsNotThere: of a path at which nothing is, no file system is told; without a path, the sentence is not of the model.
func TestModelThatIsNotThere(t *testing.T) {
	r := Request{SUT: healthy(1, nil), ModelPath: "/srv/models/gone", ModelGone: true}
	space, _ := checkDiskSpace(r, nil)
	kind, _ := checkDiskKind(r, nil)
	for _, c := range []Check{space, kind} {
		if c.State != Fail || !strings.Contains(c.Text, "/srv/models/gone does not exist") || !strings.Contains(c.Hint, "model.path") {
			t.Errorf("%+v", c)
		}
	}
	if c, _ := checkDiskKind(Request{SUT: healthy(1, nil)}, "hdd"); c.State != Warn || strings.Contains(c.Text, "model lies") || !strings.Contains(c.Text, "names no model") {
		t.Errorf("%+v", c)
	}
}

// TestDriverImage compares images with what a machine can run.
func TestDriverImage(t *testing.T) {
	amd := func(s *sut.SUT) {
		s.Accelerators.Items[0].Vendor.Value, s.Accelerators.Items[1].Vendor.Value = "AMD", "AMD"
		s.Software.CUDA, s.Software.ROCm = sut.NA[string]("no NVIDIA accelerator"), known("6.3.2")
	}
	nvidia := func(s *sut.SUT) { s.Software.CUDA = known("12.4") }
	none := sut.NA[string]("names none")
	for _, tt := range []struct {
		machine    func(*sut.SUT)
		cuda, rocm sut.Fact[string]
		want       State
	}{
		{nvidia, known("12.4.1"), none, OK},
		{nvidia, known("11.8"), none, OK},
		{nvidia, known("12.8.1"), none, Warn},
		{nvidia, known("13.0"), none, Fail},
		{nvidia, none, known("6.4"), Fail},
		{nvidia, none, none, Unknown},
		{amd, known("12.4"), none, Fail},
		{amd, none, known("6.4.1"), OK},
		{amd, none, known("10.0.0"), Warn},
		{amd, sut.Unknown[string]("not here"), sut.Unknown[string]("not here"), Unknown},
	} {
		c, applies := checkDriverImage(Request{SUT: healthy(2, tt.machine), Image: &sut.Image{CUDA: tt.cuda, ROCm: tt.rocm}})
		if !applies || c.State != tt.want {
			t.Errorf("CUDA %q, ROCm %q: %s %s", tt.cuda.Value, tt.rocm.Value, c.State, c.Text)
		}
	}
	if _, applies := checkDriverImage(Request{SUT: healthy(2, nil)}); applies {
		t.Error("a plan without an image is checked")
	}
}

// TestDiskSpaceOfTheModel looks at the drive that the model is read from, however much is free on others.
func TestDiskSpaceOfTheModel(t *testing.T) {
	at := func(mount string, gibibytes int64) sut.Filesystem {
		return sut.Filesystem{Mount: sut.Known(mount, "test"), Bytes: sut.Known(int64(1)<<40, "test"), FreeBytes: sut.Known(gibibytes<<30, "test")}
	}
	hidden := at("/hidden", 0)
	hidden.FreeBytes = sut.Unknown[int64]("no answer")
	all := []sut.Filesystem{at("/", 15), at("/data", 900), at("/data/models", 5), hidden}
	for _, tt := range []struct {
		model string
		list  []sut.Filesystem
		want  State
		says  string
	}{
		{"", all, OK, "/data"},
		{"/data/llm", all, OK, "/data"},
		{"/data/models/llm.gguf", all, Warn, "/data/models"},
		{"/data/models", all, Warn, "/data/models"},
		{"/database/llm", all, Warn, "(/)"},
		{"/hidden/llm", all, Unknown, "no answer"},
		{"/srv/llm", all[1:], Unknown, "/srv/llm"},
	} {
		s := healthy(1, nil)
		s.Storage.Filesystems.Items = tt.list
		c, _ := checkDiskSpace(Request{SUT: s, ModelPath: tt.model}, nil)
		if c.State != tt.want || !strings.Contains(c.Text, tt.says) {
			t.Errorf("%q: %s %s", tt.model, c.State, c.Text)
		}
	}
}

// TestDegradedElsewhere: an array that lacks a member spoils a run whose model lies on it, and any run without a model.
func TestDegradedElsewhere(t *testing.T) {
	s := healthy(1, func(s *sut.SUT) {
		root := s.Storage.Filesystems.Items[0]
		root.Degraded = known(1)
		data := root
		data.Mount, data.Degraded = known("/data"), known(0)
		s.Storage.Filesystems.Items = []sut.Filesystem{root, data}
	})
	for model, want := range map[string]State{"": Fail, "/srv/llm": Fail, "/data/llm": OK} {
		if c, _ := checkDiskHealth(Request{SUT: s, ModelPath: model}); c.State != want {
			t.Errorf("%q: %+v", model, c)
		}
	}
}

// secondDie is a machine whose second device is a die of the package whose power stands at the first.
func secondDie(s *sut.SUT) {
	a := &s.Accelerators.Items[1]
	a.PowerCapW, a.PowerDefaultW = sut.NA[float64]("at the first die"), sut.NA[float64]("at the first die")
}
