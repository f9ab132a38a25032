package nvidia

import (
	"context"
	"errors"
	"strings"
	"testing"

	"assay/probes/host"
	"assay/probes/sut"
)

// machine is a live machine with these files, on which nvidia-smi answers by its arguments; a question without an answer fails.
func machine(t *testing.T, files, answers map[string]string) host.Host {
	t.Helper()
	h := hostWith(t, files)
	h.Exec = func(_ context.Context, argv ...string) (host.Output, error) {
		if text, ok := answers[strings.Join(argv[1:], " ")]; ok {
			return host.Output{Stdout: []byte(text)}, nil
		}
		return host.Output{Exit: 6, Stdout: []byte("unknown option")}, nil
	}
	return h
}

func probe(t *testing.T, h host.Host) sut.SUT {
	t.Helper()
	var s sut.SUT
	if err := Probe(t.Context(), h, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// onBus gives the files of GPUs on the bus.
func onBus(addresses ...string) map[string]string {
	files := map[string]string{}
	for _, a := range addresses {
		at := "sys/bus/pci/devices/" + a + "/"
		files[at+"vendor"], files[at+"class"], files[at+"device"] = "0x10de", "0x030200", "0x2330"
	}
	return files
}

// record is `nvidia-smi -q -x` of GPUs at these addresses.
func record(addresses ...string) string {
	text := "<nvidia_smi_log><driver_version>590.48.01</driver_version><cuda_version>13.1</cuda_version><attached_gpus>" + string(rune('0'+len(addresses))) + "</attached_gpus>"
	for _, a := range addresses {
		text += `<gpu id="0000` + a + `"><product_name>NVIDIA H100 80GB HBM3</product_name><fb_memory_usage><total>81559 MiB</total></fb_memory_usage><vbios_version>96.00.A5.00.01</vbios_version></gpu>`
	}
	return text + "</nvidia_smi_log>"
}

// TestProductFacts: what nvidia-smi does not tell is its product's, where that is known.
func TestProductFacts(t *testing.T) {
	a := deviceOf(t, "<product_name>NVIDIA L40S</product_name>")
	if a.MemoryType.Value != "GDDR6" || a.ComputeUnits.Value != 142 || a.Kind.Value != "discrete" {
		t.Errorf("%+v %+v %+v", a.MemoryType, a.ComputeUnits, a.Kind)
	}
	a = deviceOf(t, "<product_name>NVIDIA X900 HBM9 PCIe</product_name>")
	if a.MemoryType.Value != "HBM9" || a.ComputeUnits.IsKnown() || !strings.Contains(a.ComputeUnits.Unknown, "X900") {
		t.Errorf("%+v %+v", a.MemoryType, a.ComputeUnits)
	}
	if a = deviceOf(t, ""); a.MemoryType.IsKnown() || a.Kind.IsKnown() {
		t.Errorf("without a name: %+v %+v", a.MemoryType, a.Kind)
	}
	for name, p := range products() {
		if p.memory == "" || p.multiprocessors < 8 || p.multiprocessors > 256 {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// TestPowerCap: the limit in force is the cap, and another one that was asked for stands beside it with the reason.
func TestPowerCap(t *testing.T) {
	for name, c := range map[string]struct {
		body  string
		watts float64
		other string
	}{
		"new words":   {"<gpu_power_readings><current_power_limit>600.00 W</current_power_limit><requested_power_limit>700.00 W</requested_power_limit></gpu_power_readings>", 600, "requested_power_limit says 700 W"},
		"old words":   {"<power_readings><power_limit>300.00 W</power_limit><enforced_power_limit>250.00 W</enforced_power_limit></power_readings>", 250, "power_limit says 300 W"},
		"agreed":      {"<power_readings><power_limit>300.00 W</power_limit><enforced_power_limit>300.00 W</enforced_power_limit></power_readings>", 300, ""},
		"only asked":  {"<gpu_power_readings><current_power_limit>N/A</current_power_limit><requested_power_limit>350.00 W</requested_power_limit></gpu_power_readings>", 350, ""},
		"nothing":     {"<gpu_power_readings><current_power_limit>0.00 W</current_power_limit></gpu_power_readings>", 0, ""},
		"no readings": {"", 0, ""},
	} {
		got := deviceOf(t, c.body).PowerCapW
		if got.Value != c.watts || got.IsKnown() != (c.watts > 0) || !strings.Contains(got.Other, c.other) || (c.other == "") != (got.Other == "") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestDraw: the reading of the instant is the power now, not the mean of the last second.
func TestDraw(t *testing.T) {
	const both = "<gpu_power_readings><average_power_draw>183.28 W</average_power_draw><instant_power_draw>%</instant_power_draw></gpu_power_readings>"
	if a := deviceOf(t, strings.Replace(both, "%", "119.88 W", 1)); a.PowerW.Value != 119.88 {
		t.Errorf("%+v", a.PowerW)
	}
	if a := deviceOf(t, strings.Replace(both, "%", "N/A", 1)); a.PowerW.Value != 183.28 {
		t.Errorf("%+v", a.PowerW)
	}
}

// TestUnifiedMemory: the processor's page tables make memory one, also where the GPU has memory of its own.
func TestUnifiedMemory(t *testing.T) {
	const grace = "<product_name>NVIDIA GH200 480GB</product_name><addressing_mode>%</addressing_mode><fb_memory_usage><total>97871 MiB</total><used>0 MiB</used></fb_memory_usage>"
	a := deviceOf(t, strings.Replace(grace, "%", "ATS", 1))
	if !a.UnifiedMemory.Value || a.VRAMBytes.Value != 97871<<20 || !a.VRAMUsedBytes.IsKnown() || a.Kind.Value != "discrete" {
		t.Errorf("%+v %+v", a.UnifiedMemory, a.VRAMBytes)
	}
	if a := deviceOf(t, strings.Replace(grace, "%", "HMM", 1)); !a.UnifiedMemory.IsKnown() || a.UnifiedMemory.Value {
		t.Errorf("%+v", a.UnifiedMemory)
	}
}

// TestDriver: the module's version and kind; the tool's version stands where it differs, with the module's beside it.
func TestDriver(t *testing.T) {
	for text, want := range map[string][2]string{
		"NVRM version: NVIDIA UNIX x86_64 Kernel Module  590.48.01  Mon Dec  8 13:05:00 UTC 2025\nGCC version:  gcc version 13.3.0\n":                    {"590.48.01", "proprietary"},
		"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (dvs-builder@U22-I3-B17-02-5)  Tue Sep 23 09:55:41 UTC 2025": {"580.95.05", "open"},
		"NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  590.10":                                                                               {"590.10", "open"},
		"something else":  {"", ""},
		"GCC version 1.2": {"", ""},
	} {
		d := readDriver(hostWith(t, map[string]string{"proc/driver/nvidia/version": text}))
		if d.version.Value != want[0] || d.kind.Value != want[1] {
			t.Errorf("%q: %+v", text, d)
		}
	}
	h := machine(t, map[string]string{"proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.1.2  x"}, map[string]string{"-q -x": record("0000:19:00.0")})
	s := probe(t, h)
	if got := s.Software.NVIDIADriver; got.Value != "590.48.01" || !strings.Contains(got.Other, "580.1.2") {
		t.Errorf("%+v", got)
	}
	if a := s.Accelerators.Items[0]; a.DriverVersion.Other == "" || a.DriverKind.Value != "proprietary" {
		t.Errorf("%+v %+v", a.DriverVersion, a.DriverKind)
	}
}

// TestModuleInformation: the kernel's module is a second source for a device, and the only one for a GPU that the tool does not list.
func TestModuleInformation(t *testing.T) {
	files := onBus("0000:19:00.0", "0000:3b:00.0", "0000:5d:00.0")
	files["proc/driver/nvidia/gpus/0000:19:00.0/information"] = "Model: \t\t NVIDIA H100 80GB HBM3\nVideo BIOS: \t 96.00.99.00.01\n"
	files["proc/driver/nvidia/gpus/0000:3b:00.0/information"] = "Model: \t\t NVIDIA H100 80GB HBM3\nVideo BIOS: \t ??.??.??.??.??\nGPU UUID: \t GPU-????????-????-????-????-????????????\n"
	s := probe(t, machine(t, files, map[string]string{"-q -x": record("0000:19:00.0")}))
	if len(s.Accelerators.Items) != 3 {
		t.Fatalf("%d accelerators", len(s.Accelerators.Items))
	}
	seen, lost, bare := s.Accelerators.Items[0], s.Accelerators.Items[1], s.Accelerators.Items[2]
	if seen.VBIOS.Value != "96.00.A5.00.01" || !strings.Contains(seen.VBIOS.Other, "96.00.99.00.01") || !seen.Usable.Value {
		t.Errorf("%+v %+v", seen.VBIOS, seen.Usable)
	}
	if lost.Name.Value != "NVIDIA H100 80GB HBM3" || lost.VBIOS.IsKnown() || !lost.Usable.IsKnown() || lost.Usable.Value || lost.VRAMBytes.Unknown == "" {
		t.Errorf("%+v %+v %+v", lost.Name, lost.VBIOS, lost.Usable)
	}
	if !strings.Contains(bare.VRAMBytes.Unknown, "no driver is bound") || bare.Usable.Value {
		t.Errorf("%+v", bare.VRAMBytes)
	}
}

// TestOtherSide: a device that the tool lists and the kernel's bus does not is told as one.
func TestOtherSide(t *testing.T) {
	s := probe(t, machine(t, onBus("0000:19:00.0"), map[string]string{"-q -x": record("0000:19:00.0", "0000:3b:00.0")}))
	if a := s.Accelerators.Items; len(a) != 2 || a[0].PCI.Address.Other != "" || !strings.Contains(a[1].PCI.Address.Other, "does not list it") {
		t.Errorf("%+v", a)
	}
}

// TestNoTool: a GPU of the bus whose driver or tool does not answer cannot be used, whatever that says in place of an answer; where the
// module is loaded and the tool is not installed it may be fit, and that it cannot be used is not claimed.
func TestNoTool(t *testing.T) {
	dead := "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."
	for _, tt := range []struct {
		name, says string
		out        host.Output
		err        error
		loaded     bool
		unusable   bool
	}{
		{"no driver", "not found; no driver is bound to it", host.Output{}, host.ErrNotFound, false, true},
		{"not installed", "not found", host.Output{}, host.ErrNotFound, true, false},
		{"hangs", "nvidia-smi did not answer in time", host.Output{}, context.DeadlineExceeded, true, true},
		{"given up", "context canceled", host.Output{}, context.Canceled, true, false},
		{"broken", "input/output error", host.Output{}, errors.New("input/output error"), true, true},
		{"dead", dead, host.Output{Exit: 9, Stdout: []byte(dead)}, nil, true, true},
	} {
		files := onBus("0000:19:00.0")
		if tt.loaded {
			files["proc/driver/nvidia/version"] = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  590.48.01"
			files["sys/bus/pci/devices/0000:19:00.0/driver/module"] = ""
		}
		h := hostWith(t, files)
		h.Exec = func(context.Context, ...string) (host.Output, error) { return tt.out, tt.err }
		s := probe(t, h)
		if len(s.Accelerators.Items) != 1 {
			t.Fatalf("%s: %+v", tt.name, s.Accelerators)
		}
		a := s.Accelerators.Items[0]
		if a.Usable.IsKnown() != tt.unusable || a.Usable.Value || !strings.Contains(a.PowerCapW.Unknown, tt.says) || s.Software.CUDA.IsKnown() {
			t.Errorf("%s: %+v, %+v", tt.name, a.Usable, a.PowerCapW)
		}
		if !strings.Contains(a.VBIOS.Unknown, tt.says[:9]) || a.Name.Value != "NVIDIA H100 80GB HBM3" || a.MemoryType.Value != "HBM3" || a.Kind.Value != "discrete" {
			t.Errorf("%s: %+v, %+v", tt.name, a.VBIOS, a.Name)
		}
	}
}

// TestFirstFailure: when the tool refuses every form of the question, what it said to the first is the reason, not what it thinks of the last.
func TestFirstFailure(t *testing.T) {
	h := hostWith(t, onBus("0000:19:00.0"))
	h.Exec = func(_ context.Context, argv ...string) (host.Output, error) {
		if argv[len(argv)-1] == "-x" {
			return host.Output{Exit: 15, Stdout: []byte("Unable to determine the device handle for GPU: GPU is lost.")}, nil
		}
		return host.Output{Exit: 2, Stdout: []byte("Field \"x\" is not a valid field to query.")}, nil
	}
	if why := probe(t, h).Accelerators.Items[0].PowerCapW.Unknown; !strings.Contains(why, "GPU is lost") {
		t.Error(why)
	}
}

// TestNotOnBus: where the bus shows no GPU, the tool is asked all the same, since a sandbox may hide the bus and not the driver; where the
// kernel's files cannot be read, that there is no GPU is not said.
func TestNotOnBus(t *testing.T) {
	cpus := map[string]string{"sys/bus/pci/devices/0000:00:00.0/vendor": "0x8086"}
	h := machine(t, cpus, map[string]string{"-q -x": record("0000:19:00.0")})
	h.Live = true
	if s := probe(t, h); len(s.Accelerators.Items) != 1 || !s.Accelerators.Items[0].Usable.Value {
		t.Errorf("the tool lists a GPU: %+v", s.Accelerators)
	}
	refuse := func(context.Context, ...string) (host.Output, error) {
		return host.Output{Exit: 9, Stdout: []byte("No devices were found")}, nil
	}
	missing := func(context.Context, ...string) (host.Output, error) { return host.Output{}, host.ErrNotFound }
	for _, tt := range []struct {
		name  string
		files map[string]string
		exec  func(context.Context, ...string) (host.Output, error)
		none  bool
	}{
		{"no tool", cpus, missing, true},
		{"a tool left behind", cpus, refuse, true},
		{"no bus", map[string]string{"sys/bus/cpu/devices/cpu0/x": ""}, missing, true},
		{"nothing to be read", map[string]string{"proc/uptime": "1"}, missing, false},
		{"buses hidden", map[string]string{"sys/class/net/lo/mtu": "1"}, missing, false},
	} {
		h := hostWith(t, tt.files)
		h.Exec = tt.exec
		if s := probe(t, h); len(s.Accelerators.Items) != 0 || (s.Accelerators.Unknown == "") != tt.none {
			t.Errorf("%s: %+v", tt.name, s.Accelerators)
		}
	}
}

// TestOneIsLost: where one lost GPU makes the tool refuse every question about all, the others are asked for alone, and it alone is of no use.
func TestOneIsLost(t *testing.T) {
	h := hostWith(t, onBus("0000:19:00.0", "0000:3b:00.0", "0000:4c:00.0"))
	h.Exec = func(_ context.Context, argv ...string) (host.Output, error) {
		if address := argv[len(argv)-1]; argv[len(argv)-2] == "-i" && address != "0000:3b:00.0" {
			return host.Output{Stdout: []byte(strings.Replace(record(address), "<attached_gpus>1", "<attached_gpus>3", 1))}, nil
		}
		return host.Output{Exit: 15, Stdout: []byte("Unable to determine the device handle for GPU 0000:3B:00.0: GPU is lost.  Reboot the system to recover this GPU\n")}, nil
	}
	s := probe(t, h)
	if len(s.Accelerators.Items) != 3 || s.Software.NVIDIADriver.Value != "590.48.01" {
		t.Fatalf("%+v", s.Accelerators)
	}
	for i, usable := range []bool{true, true, false} { // the lost one comes last until all vendors' are put in order
		if a := s.Accelerators.Items[i]; a.Usable.Value != usable || a.VRAMBytes.IsKnown() != usable || (a.PCI.Address.Value == "0000:3b:00.0") == usable {
			t.Errorf("%s: %+v %+v", a.PCI.Address.Value, a.Usable, a.VRAMBytes)
		}
	}
}

// TestQuestionsGoOutAtOnce: none waits for another, so that what hangs costs one limit of time and its own answer.
func TestQuestionsGoOutAtOnce(t *testing.T) {
	h := machine(t, onBus("0000:19:00.0"), nil)
	arrived, release := make(chan string, 8), make(chan struct{})
	h.Exec = func(_ context.Context, argv ...string) (host.Output, error) {
		arrived <- strings.Join(argv[1:], " ")
		<-release
		if argv[1] == "-q" {
			return host.Output{Stdout: []byte(record("0000:19:00.0"))}, nil
		}
		return host.Output{}, context.DeadlineExceeded
	}
	got := make(chan report, 1)
	go func() { got <- askAll(t.Context(), h, nil) }()
	asked := map[string]bool{}
	for range 7 {
		asked[<-arrived] = true
	}
	close(release)
	r := <-got
	if len(asked) != 7 || r.failure != nil || len(r.links) != 0 || len(r.matrix.rows) != 0 || r.confidential.IsKnown() {
		t.Errorf("%v %+v", asked, r)
	}
}

// TestConfidential: the state of all GPUs; where they are protected on the bus alone, the state says off and the mode tells.
func TestConfidential(t *testing.T) {
	const text = "\n==============NVSMI CONF-COMPUTE LOG==============\n\n    CC State                   : %\n    Multi-GPU Mode             : !\n    CPU CC Capabilities        : INTEL TDX\n"
	for said, want := range map[[2]string]string{{"ON", "None"}: "on", {"OFF", "None"}: "off", {"OFF", "Protected PCIe"}: "protected pcie", {"N/A", "None"}: "", {"OFF", "N/A"}: "off"} {
		got := parseConfidential(strings.NewReplacer("%", said[0], "!", said[1]).Replace(text), "x")
		if got.Value != want || (want == "") != (got.Unknown != "") {
			t.Errorf("%v: %+v", said, got)
		}
	}
	if got := parseConfidential("Failed to query: Not Supported\n", "x"); got.IsKnown() {
		t.Errorf("%+v", got)
	}
}

func FuzzConfidential(f *testing.F) {
	f.Add("CC State : ON\nMulti-GPU Mode : None\n")
	f.Fuzz(func(t *testing.T, text string) {
		if got := parseConfidential(plain(text), "x"); got.IsKnown() && !isValue(got.Value) {
			t.Errorf("%+v", got)
		}
	})
}

func FuzzModule(f *testing.F) {
	f.Add("NVRM version: NVIDIA UNIX x86_64 Kernel Module  590.48.01  x")
	f.Fuzz(func(t *testing.T, text string) {
		if v, err := moduleVersion(text); err == nil && (v == "" || host.Digits(v) < 2) {
			t.Errorf("version %q", v)
		}
		if kind, err := moduleKind(text); err == nil && kind != "open" && kind != "proprietary" {
			t.Errorf("kind %q", kind)
		}
	})
}

// TestNoProductHasTheNumberZero: a word of the bus whose product was blanked is no id.
func TestNoProductHasTheNumberZero(t *testing.T) {
	for word, want := range map[string]string{"233010DE": "0x2330", "0x233010DE": "0x2330", "000000DE": "", "0x00000000": ""} {
		a := deviceOf(t, "<pci><pci_device_id>"+word+"</pci_device_id></pci>")
		if a.PCI.DeviceID.Value != want || (want == "") != (a.PCI.DeviceID.Unknown != "") {
			t.Errorf("%s: %+v", word, a.PCI.DeviceID)
		}
	}
}
