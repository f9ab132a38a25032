package nvidia

import (
	"slices"
	"strings"
	"testing"

	"assay/probes/check"
	"assay/probes/sut"
)

// TestField_nvtop_436: the window of BAR 1 is no memory.
func TestField_nvtop_436(t *testing.T) {
	a := deviceOf(t, "<product_name>NVIDIA GeForce RTX 3090</product_name><fb_memory_usage><total>24576 MiB</total></fb_memory_usage><bar1_memory_usage><total>32768 MiB</total></bar1_memory_usage>")
	if a.VRAMBytes.Value != 24576<<20 {
		t.Errorf("%+v", a.VRAMBytes)
	}
}

// TestField_nvtop_449: a chip that shares the system's memory is listed, whether its driver gives no memory or all of the system's.
func TestField_nvtop_449(t *testing.T) {
	for said, other := range map[string]string{"N/A": "", "[N/A]": "", "Not Supported": "", "124610 MiB": "124610 MiB"} {
		a := deviceOf(t, "<product_name>NVIDIA GB10</product_name><addressing_mode>ATS</addressing_mode><fb_memory_usage><total>"+said+"</total><used>"+said+"</used></fb_memory_usage>")
		if a.VRAMBytes.NA == "" || a.VRAMUsedBytes.NA == "" || !a.UnifiedMemory.Value || a.Kind.Value != "integrated" || a.Name.Value != "NVIDIA GB10" || !strings.Contains(a.UnifiedMemory.Other, other) {
			t.Errorf("%s: %+v %+v", said, a.VRAMBytes, a.UnifiedMemory)
		}
	}
}

// TestField_telegraf_7659: a column of numbers without one costs that field, of a record and of a sample.
func TestField_telegraf_7659(t *testing.T) {
	const text = "pci.bus_id, name, memory.total [MiB], power.limit [W], temperature.gpu, utilization.gpu [%]\n00000000:19:00.0, NVIDIA A2, 15356 MiB, [N/A], 41, N/A\n"
	log, err := parseCSV([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if a := first(log); a.PowerCapW.IsKnown() || a.PowerCapW.Unknown == "" || a.VRAMBytes.Value != 15356<<20 || a.Name.Value != "NVIDIA A2" {
		t.Errorf("%+v", a)
	}
	samples := lines(t, text)
	if len(samples) != 1 || samples[0].Series != "gpu3.temp_c" || samples[0].Value != 41 {
		t.Errorf("%+v", samples)
	}
}

// TestField_netdata_15755: both names of the block of power readings are read.
func TestField_netdata_15755(t *testing.T) {
	for _, block := range []string{"power_readings", "gpu_power_readings"} {
		a := deviceOf(t, "<"+block+"><power_draw>67.03 W</power_draw><default_power_limit>500.00 W</default_power_limit></"+block+">")
		if a.PowerW.Value != 67.03 || a.PowerDefaultW.Value != 500 {
			t.Errorf("%s: %+v %+v", block, a.PowerW, a.PowerDefaultW)
		}
	}
}

const deprecated = "Requested functionality has been deprecated"

// TestField_1Panel_11910: a sentence in place of a value costs that field.
func TestField_1Panel_11910(t *testing.T) {
	a := deviceOf(t, "<product_name>NVIDIA L40S</product_name><compute_mode>"+deprecated+"</compute_mode><gpu_power_readings><power_state>"+deprecated+"</power_state><current_power_limit>350.00 W</current_power_limit></gpu_power_readings>"+
		"<applications_clocks><graphics_clock>"+deprecated+"</graphics_clock></applications_clocks><max_clocks><graphics_clock>2520 MHz</graphics_clock></max_clocks>")
	if a.PowerCapW.Value != 350 || a.Clocks.GfxMaxMHz.Value != 2520 || a.Clocks.AppGfxMHz.IsKnown() || a.ComputeMode.IsKnown() || !strings.Contains(a.Clocks.AppGfxMHz.Unknown, deprecated) {
		t.Errorf("%+v %+v", a.PowerCapW, a.Clocks)
	}
}

// TestField_i3pystatus_776: no spelling of none is a value, and none breaks the rest.
func TestField_i3pystatus_776(t *testing.T) {
	for _, none := range []string{"[Not Supported]", "[N/A]", "N/A", "Not Supported", "[Unknown Error]", "ERR!", "GPU is lost", "[GPU requires reset]", "[" + deprecated + "]", "Function Not Found", "[Insufficient Permissions]"} {
		log, err := parseCSV([]byte("pci.bus_id, name, power.limit [W], vbios_version, temperature.gpu\n00000000:01:00.0, GPU, " + none + ", " + none + ", 50\n"))
		if err != nil {
			t.Fatal(err)
		}
		if a := first(log); a.PowerCapW.IsKnown() || a.VBIOS.IsKnown() || a.Temperatures.EdgeC.Value != 50 || !strings.Contains(a.PowerCapW.Unknown, none) {
			t.Errorf("%s: %+v %+v", none, a.PowerCapW, a.VBIOS)
		}
	}
}

// TestField_MindMiner_627: an unreadable default limit is unknown, and the enforced limit stays the cap, below what is drawn.
func TestField_MindMiner_627(t *testing.T) {
	log, err := parseCSV([]byte("pci.bus_id, power.draw [W], power.limit [W], enforced.power.limit [W], power.default_limit [W]\n00000000:01:00.0, 228.82 W, 230.00 W, 210.00 W, [Unknown Error]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if a := first(log); a.PowerCapW.Value != 210 || a.PowerDefaultW.IsKnown() || !strings.Contains(a.PowerDefaultW.Unknown, "Unknown Error") {
		t.Errorf("%+v %+v", a.PowerCapW, a.PowerDefaultW)
	}
}

// TestField_nvitop_86: where no limit can be set, the enforced one is the cap.
func TestField_nvitop_86(t *testing.T) {
	for _, body := range []string{
		"<power_readings><power_management>N/A</power_management><power_limit>N/A</power_limit><enforced_power_limit>115.00 W</enforced_power_limit></power_readings>",
		"<gpu_power_readings><current_power_limit>115.00 W</current_power_limit><requested_power_limit>N/A</requested_power_limit></gpu_power_readings>",
	} {
		if a := deviceOf(t, body); a.PowerCapW.Value != 115 {
			t.Errorf("%s: %+v", body, a.PowerCapW)
		}
	}
}

// TestField_open_gpu_kernel_modules_483: a default below the highest limit is the default.
func TestField_open_gpu_kernel_modules_483(t *testing.T) {
	a := deviceOf(t, "<gpu_power_readings><current_power_limit>35.00 W</current_power_limit><default_power_limit>35.00 W</default_power_limit><min_power_limit>1.00 W</min_power_limit><max_power_limit>95.00 W</max_power_limit></gpu_power_readings>"+
		"<power_samples><duration>Not Found</duration></power_samples>")
	if a.PowerDefaultW.Value != 35 || a.PowerMaxW.Value != 95 || a.PowerCapW.Value != 35 {
		t.Errorf("%+v %+v", a.PowerDefaultW, a.PowerMaxW)
	}
}

// TestField_pyJoules_23: a counter of energy is read by its unit; one without a unit is none.
func TestField_pyJoules_23(t *testing.T) {
	for header, want := range map[string]float64{"total_energy_consumption [mJ]": 1234.5, "total_energy_consumption [J]": 1234500, "total_energy_consumption [uJ]": 1.2345, "total_energy_consumption": 0} {
		samples := lines(t, "pci.bus_id, "+header+"\n00000000:19:00.0, 1234500\n")
		switch {
		case want == 0 && len(samples) > 0, want > 0 && (len(samples) != 1 || samples[0].Value != want || samples[0].Series != "gpu3.energy_j"):
			t.Errorf("%s: %+v", header, samples)
		}
	}
}

// TestField_nvtrust_128: four of eight GPUs are initialised. All eight are listed, four of them as of no use, and the check of their number fails.
func TestField_nvtrust_128(t *testing.T) {
	all := []string{"0000:19:00.0", "0000:3b:00.0", "0000:4c:00.0", "0000:5d:00.0", "0000:9b:00.0", "0000:bb:00.0", "0000:cb:00.0", "0000:db:00.0"}
	s := probe(t, machine(t, onBus(all...), map[string]string{"-q -x": record(all[:4]...)}))
	usable := 0
	for _, a := range s.Accelerators.Items {
		if v, known := a.Usable.Get(); known && v {
			usable++
		}
	}
	if len(s.Accelerators.Items) != 8 || usable != 4 {
		t.Fatalf("%d GPUs, %d usable", len(s.Accelerators.Items), usable)
	}
	for _, wanted := range []check.Wanted{nil, {"gpu_count": 8}} {
		list := check.Evaluate(check.Request{SUT: s, Wanted: wanted})
		if !slices.ContainsFunc(list, func(c check.Check) bool { return c.ID == "gpu_count" && c.State == check.Fail }) {
			t.Errorf("%v: %+v", wanted, list)
		}
	}
}

// TestField_cubecos_312: a version that was not found is none.
func TestField_cubecos_312(t *testing.T) {
	text := "==============NVSMI LOG==============\n\nDriver Version                            : 550.90.05\nCUDA Version                              : Not Found\n\nAttached GPUs                             : 1\nGPU 00000000:19:00.0\n    Product Name                          : NVIDIA A16\n" +
		"    GPU Virtualization Mode\n        Virtualization Mode               : Host VGPU\n        Host VGPU Mode                    : SR-IOV\n"
	s := probe(t, machine(t, onBus("0000:19:00.0"), map[string]string{"-q": text, "--version": "NVIDIA-SMI version  : 550.90.05\nCUDA Version        : Not Found\n"}))
	if s.Software.CUDA.IsKnown() || !strings.Contains(s.Software.CUDA.Unknown, "Not Found") || s.Software.NVIDIADriver.Value != "550.90.05" {
		t.Errorf("%+v", s.Software.CUDA)
	}
	if a := s.Accelerators.Items[0]; a.Virtualization.Value != "host vgpu" || s.System.Virtualization != (sut.Fact[string]{}) {
		t.Errorf("%+v %+v", a.Virtualization, s.System.Virtualization)
	}
}
