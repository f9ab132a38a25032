package check

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"assay/probes/sut"
)

// TestDrift changes one thing at a time: it is told once, under its code.
func TestDrift(t *testing.T) {
	counted := known[int64]
	rich := func(s *sut.SUT) {
		for i := range s.Accelerators.Items {
			s.Accelerators.Items[i].ThrottleCounters.Items = []sut.ThrottleCounter{
				{Reason: known("power"), Ticks: counted(100), OfTicks: counted(1000)},
				{Reason: known("thermal"), Ticks: counted(0), OfTicks: counted(1000)},
			}
		}
		s.Network.Interfaces.Items = append(s.Network.Interfaces.Items, sut.NIC{Name: known("docker0"), Kind: known("bridge"), Up: known(false)})
		s.OS.KernelLog.Items = []sut.LogEvent{{Code: known("nvidia_xid_13"), Count: known(1)}}
		s.CPU.Online, s.OS.BootHash, s.OS.Distro = known("0-127"), known("a1"), known("Ubuntu 24.04")
	}
	before := healthy(2, rich)
	if same := Drift(before, healthy(2, rich)); len(same) != 0 {
		t.Errorf("nothing changed, but %+v", same)
	}
	first := func(f func(*sut.Accelerator)) func(*sut.SUT) { return func(s *sut.SUT) { f(&s.Accelerators.Items[0]) } }
	throttle := func(i int, ticks int64) func(*sut.SUT) {
		return first(func(a *sut.Accelerator) {
			a.ThrottleCounters.Items = slices.Clone(a.ThrottleCounters.Items)
			a.ThrottleCounters.Items[i].Ticks, a.ThrottleCounters.Items[i].OfTicks = counted(ticks), counted(2000)
		})
	}
	for _, tt := range []struct {
		code  string
		kind  Kind
		spoil func(*sut.SUT)
	}{
		{"gpu_count", Moved, func(s *sut.SUT) { s.Accelerators.Items = s.Accelerators.Items[:1] }},
		{"gpu_count", Moved, func(s *sut.SUT) { s.Accelerators.Items = s.Accelerators.Items[1:] }},
		{"gpu_count", Moved, first(func(a *sut.Accelerator) { *a = sut.Accelerator{PCI: a.PCI} })},
		{"gpu_lost", Moved, first(func(a *sut.Accelerator) {
			*a = sut.Accelerator{PCI: a.PCI, Usable: sut.Known(false, "Unknown Error")}
		})},
		{"power_cap", Moved, first(func(a *sut.Accelerator) { a.PowerCapW.Value = 500 })},
		{"driver", Moved, first(func(a *sut.Accelerator) { a.DriverVersion.Value = "600" })},
		{"link", Moved, first(func(a *sut.Accelerator) { a.Link.Width.Value = 8 })},
		{"clocks", Moved, first(func(a *sut.Accelerator) { a.PerfLevel.Value = "manual" })},
		{"clocks", Moved, first(func(a *sut.Accelerator) { a.Clocks.AppGfxMHz.Value = 1410 })},
		{"gpu_mode", Moved, first(func(a *sut.Accelerator) { a.Persistence.Value = false })},
		{"gpu_mode", Moved, first(func(a *sut.Accelerator) { a.ComputeMode.Value = "exclusive process" })},
		{"gpu_pages", Moved, first(func(a *sut.Accelerator) { a.RAS.PendingPages.Value = 1 })},
		{"partition", Moved, first(func(a *sut.Accelerator) { a.Partition.Count.Value = 2 })},
		{"vbios", Moved, first(func(a *sut.Accelerator) { a.VBIOS.Value = "97" })},
		{"gpu", Moved, first(func(a *sut.Accelerator) { a.VRAMBytes.Value-- })},
		{"interconnect", Moved, first(func(a *sut.Accelerator) { a.NVLinks.Value = 17 })},
		{"system", Moved, func(s *sut.SUT) { s.System.Virtualization.Value = "kvm" }},
		{"cpu", Moved, func(s *sut.SUT) { s.CPU.Online.Value = "0-126" }},
		{"boot", Moved, func(s *sut.SUT) { s.OS.BootHash.Value = "b2" }},
		{"os", Moved, func(s *sut.SUT) { s.OS.Distro.Value = "Ubuntu 24.10" }},
		{"governor", Moved, func(s *sut.SUT) { s.CPU.Governor.Value = "powersave" }},
		{"kernel", Moved, func(s *sut.SUT) { s.OS.Kernel.Value = "6.9" }},
		{"memory", Moved, func(s *sut.SUT) { s.Memory.Bytes.Value-- }},
		{"tuning", Moved, func(s *sut.SUT) { s.OS.Tuning.THP.Value = "never" }},
		{"software", Moved, func(s *sut.SUT) { s.Software.Docker.Value = "30" }},
		{"network", Moved, func(s *sut.SUT) { s.Network.InfiniBand.Items[0].State.Value = "down" }},
		{"network", Moved, func(s *sut.SUT) { s.Network.Interfaces.Items[0].Up.Value = false }},
		{"storage", Moved, func(s *sut.SUT) { s.Storage.Filesystems.Items[0].Degraded.Value = 1 }},
		{"gpu_errors", Happened, first(func(a *sut.Accelerator) { a.RAS.Uncorrectable.Value++ })},
		{"gpu_errors", Happened, first(func(a *sut.Accelerator) { a.LinkErrors.AERFatal.Value++ })},
		{"memory_corrected", Listed, first(func(a *sut.Accelerator) { a.RAS.Correctable.Value++ })},
		{"pcie_errors", Listed, first(func(a *sut.Accelerator) { a.LinkErrors.Replays.Value++ })},
		{"throttle_power", Listed, throttle(0, 900)},
		{"throttle", Happened, throttle(1, 11)},
		{"process", Happened, first(func(a *sut.Accelerator) {
			a.Processes.Items = []sut.GPUProcess{{PID: known(7), Name: known("miner")}}
		})},
		{"vram_leak", Happened, first(func(a *sut.Accelerator) { a.VRAMUsedBytes.Value = 2 << 30 })},
		{"memory_errors", Happened, func(s *sut.SUT) { s.Memory.EDAC.Uncorrectable.Value++ }},
		{"kernel_log", Happened, func(s *sut.SUT) { s.OS.KernelLog.Items[0].Count.Value++ }},
		{"kernel_log", Happened, func(s *sut.SUT) { s.OS.KernelLog.Items[0].Code.Value = "xid_79" }},
		{"link_downed", Happened, func(s *sut.SUT) { s.Network.InfiniBand.Items[0].Counters.LinkDowned.Value++ }},
		{"not_seen", Listed, first(func(a *sut.Accelerator) { a.PowerCapW = sut.Unknown[float64]("no answer") })},
		{"not_seen", Listed, func(s *sut.SUT) { s.Accelerators = sut.List[sut.Accelerator]{Unknown: "nvidia-smi took too long"} }},
	} {
		got := Drift(before, healthy(2, func(s *sut.SUT) { rich(s); tt.spoil(s) }))
		if len(got) != 1 || got[0].Code != tt.code || got[0].Kind() != tt.kind || got[0].Text == "" || got[0].Evidence == "" {
			t.Errorf("%s: %+v", tt.code, got)
		}
	}
	for name, quiet := range map[string]func(*sut.SUT){
		"free space and time": func(s *sut.SUT) { s.ProbedAtUS, s.Storage.Filesystems.Items[0].FreeBytes.Value = 1, 5 },
		"throttled now":       first(func(a *sut.Accelerator) { a.Throttle.Items = []string{"sw_power_cap"} }),
		"another source":      first(func(a *sut.Accelerator) { a.PowerCapW.Source = "another" }),
		"an idle link":        first(func(a *sut.Accelerator) { a.Link.GTS.Value = 2.5 }),
		"a little throttled":  throttle(1, 10),
		"a counter anew":      first(func(a *sut.Accelerator) { a.RAS.Correctable.Value = 0 }),
		"an engine's bridge":  func(s *sut.SUT) { s.Network.Interfaces.Items[1].Up.Value = true },
		"a monitor":           first(func(a *sut.Accelerator) { a.Processes.Items = []sut.GPUProcess{{Name: known("amd-smi")}} }),
	} {
		if got := Drift(before, healthy(2, func(s *sut.SUT) { rich(s); quiet(s) })); len(got) != 0 {
			t.Errorf("%s is no drift: %+v", name, got)
		}
	}
}

// TestDriftOfGoneMount: a file system that is gone does not make the others look changed: each is held against itself.
func TestDriftOfGoneMount(t *testing.T) {
	both := func(s *sut.SUT) {
		data := s.Storage.Filesystems.Items[0]
		data.Mount, data.Stack, data.Degraded = known("/data"), known([]string{"ext4", "raid1", "hdd"}), known(1)
		s.Storage.Filesystems.Items = append(s.Storage.Filesystems.Items, data)
	}
	got := Drift(healthy(1, both), healthy(1, func(s *sut.SUT) { both(s); s.Storage.Filesystems.Items = s.Storage.Filesystems.Items[1:] }))
	if len(got) != 1 || got[0].Code != "not_seen" || !strings.Contains(got[0].Evidence, "filesystems[/]") {
		t.Errorf("%+v", got)
	}
}

// TestDriftOfThrottledTime: a counter of µs, as NVIDIA's driver has, is held against the time between the two looks.
func TestDriftOfThrottledTime(t *testing.T) {
	at := func(us, heldUS int64) sut.SUT {
		return healthy(1, func(s *sut.SUT) {
			s.ProbedAtUS = us
			s.Accelerators.Items[0].ThrottleCounters.Items = []sut.ThrottleCounter{
				{Reason: known("power"), Ticks: known(3 * heldUS), OfTicks: sut.NA[int64]("ticks are µs of time")},
				{Reason: known("hw_thermal"), Ticks: known(heldUS), OfTicks: sut.NA[int64]("ticks are µs of time")},
			}
		})
	}
	got := Drift(at(1e6, 5e6), at(61e6, 8e6)) // 3 s of a minute
	if len(got) != 2 || got[0].Code != "throttle_power" || got[1].Code != "throttle" || !strings.Contains(got[1].Text, " 5 %") {
		t.Errorf("%+v", got)
	}
	if got := Drift(at(1e6, 5e6), at(61e6, 5.1e6)); len(got) != 0 {
		t.Errorf("a tenth of a second of a minute: %+v", got)
	}
}

// TestDriftOfWhatWasNotSeen: a look that fails says that it failed, not that the machine changed; and a change is told by the next look.
func TestDriftOfWhatWasNotSeen(t *testing.T) {
	before := healthy(8, nil)
	blind := healthy(8, func(s *sut.SUT) {
		for i := range s.Accelerators.Items {
			s.Accelerators.Items[i] = sut.Accelerator{PCI: s.Accelerators.Items[i].PCI}
			sut.GiveReason(reflect.ValueOf(&s.Accelerators.Items[i]).Elem(), "nvidia-smi took too long")
		}
	})
	got := Drift(before, blind)
	if len(got) != 1 || got[0].Code != "not_seen" || !strings.Contains(got[0].Evidence, "nvidia-smi took too long") || !strings.Contains(got[0].Evidence, "more") {
		t.Errorf("%+v", got)
	}
	if got := Drift(blind, before); len(got) != 0 {
		t.Errorf("what is seen again is no change: %+v", got)
	}
	after := healthy(8, func(s *sut.SUT) { s.Accelerators.Items[3].PowerCapW.Value = 500 })
	if got := Drift(Remember(before, blind), after); len(got) != 1 || got[0].Code != "power_cap" {
		t.Errorf("a cap that was changed while nobody saw it: %+v", got)
	}
	gone := healthy(8, func(s *sut.SUT) { s.Accelerators = sut.List[sut.Accelerator]{Unknown: "the probe did not answer"} })
	if got := Drift(Remember(before, gone), after); len(got) != 1 || got[0].Code != "power_cap" {
		t.Errorf("a list that was not seen: %+v", got)
	}
	if blind.Accelerators.Items[3].PowerCapW.IsKnown() {
		t.Error("remembering wrote into what was read")
	}
}

// TestDriftOfLostGPUs: GPUs that answered and do not any more are told with the tool's words, where all are lost too, at each look until they
// are back. Those that did not answer before are not.
func TestDriftOfLostGPUs(t *testing.T) {
	before, dead := healthy(1, nil), healthy(1, deaf)
	last := before
	for look := range 2 {
		got := Drift(last, dead)
		if len(got) != 1 || got[0].Code != "gpu_lost" || got[0].Kind() == Listed || !strings.Contains(got[0].Evidence, "nvidia-smi exits 9") {
			t.Fatalf("look %d: %+v", look, got)
		}
		last = Remember(last, dead)
	}
	if dead.Accelerators.Items[0].Usable.Value {
		t.Error("remembering wrote into what was read")
	}
	if got := Drift(last, before); len(got) != 0 {
		t.Errorf("it is back: %+v", got)
	}
	if got := Drift(dead, dead); len(got) != 0 {
		t.Errorf("it never answered: %+v", got)
	}
}

// BenchmarkDrift is what a look at a machine costs after the reading.
func BenchmarkDrift(b *testing.B) {
	before, after := healthy(8, nil), healthy(8, nil)
	for b.Loop() {
		if got := Drift(before, after); len(got) != 0 {
			b.Fatal(fmt.Sprint(got))
		}
	}
}
