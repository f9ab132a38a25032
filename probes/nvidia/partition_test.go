package nvidia

import (
	"slices"
	"strings"
	"testing"
)

func TestInstances(t *testing.T) {
	got := parseInstances("GPU 0: H100 (UUID: u)\n  MIG 3g.40gb     Device  0: (UUID: m)\n  MIG 1g.10gb Device 1: (UUID: n)\nGPU 1: H100\n")
	if len(got) != 2 || strings.Join(got[0].names, " ") != "3g.40gb 1g.10gb" || got[0].uuid != "u" || len(got[1].names) != 0 {
		t.Errorf("%v", got)
	}
}

// divided is a record of two GPUs, of which the second is divided; % stands for its instances.
func divided(t *testing.T, instances string) *node {
	t.Helper()
	const one = "GPU-11111111-2222-4333-8444-555555555555"
	text := `<nvidia_smi_log><attached_gpus>2</attached_gpus><gpu id="00000000:01:00.0"><uuid>GPU-99999999-2222-4333-8444-555555555555</uuid><mig_mode><current_mig>Disabled</current_mig></mig_mode></gpu>` +
		`<gpu id="00000000:02:00.0"><uuid>` + one + `</uuid><mig_mode><current_mig>Enabled</current_mig></mig_mode><mig_devices>` + instances + `</mig_devices></gpu></nvidia_smi_log>`
	log, err := parseXML([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// TestPartition: instances belong to the GPU whose UUID stands above them, whatever the order; without the list their number is the
// record's; what differs between them is no fact of one of them.
func TestPartition(t *testing.T) {
	const sevenths = `<mig_device><device_attributes><shared><multiprocessor_count>14</multiprocessor_count></shared></device_attributes><fb_memory_usage><total>19968 MiB</total></fb_memory_usage></mig_device>`
	log := divided(t, sevenths+sevenths)
	list := parseInstances("GPU 0: A100 (UUID: GPU-11111111-2222-4333-8444-555555555555)\n  MIG 2g.20gb Device 0: (UUID: m)\n  MIG 2g.20gb Device 1: (UUID: n)\n")
	gpus := log.all("gpu")
	whole := report{log: log, source: "x", instances: list}.gpu(hostWithout(), 0, gpus[0], driver{}).partition()
	if whole.Count.Value != 1 || whole.Compute.NA == "" || len(whole.Instances.Items) != 0 || whole.ComputeUnits.NA == "" {
		t.Errorf("%+v", whole)
	}
	p := report{log: log, source: "x", instances: list}.gpu(hostWithout(), 1, gpus[1], driver{}).partition()
	if p.Compute.Value != "MIG" || p.Count.Value != 2 || !slices.Equal(p.Instances.Items, []string{"2g.20gb", "2g.20gb"}) || p.ComputeUnits.Value != 14 || p.VRAMBytes.Value != 19968<<20 {
		t.Errorf("%+v", p)
	}
	p = report{log: log, source: "x"}.gpu(hostWithout(), 1, gpus[1], driver{}).partition()
	if p.Count.Value != 2 || p.Instances.Unknown == "" {
		t.Errorf("without the list: %+v", p)
	}
	log = divided(t, sevenths+strings.Replace(sevenths, "14", "28", 1))
	p = report{log: log, source: "x"}.gpu(hostWithout(), 1, log.all("gpu")[1], driver{}).partition()
	if p.ComputeUnits.IsKnown() || !p.VRAMBytes.IsKnown() {
		t.Errorf("instances of two kinds: %+v", p)
	}
	log = divided(t, "None")
	p = report{log: log, source: "x"}.gpu(hostWithout(), 1, log.all("gpu")[1], driver{}).partition()
	if p.Count.IsKnown() || p.Instances.Unknown == "" || p.VRAMBytes.IsKnown() {
		t.Errorf("no instances are listed: %+v", p)
	}
}

func TestVirtualization(t *testing.T) {
	for mode, want := range map[string]struct {
		mode     string
		function bool
		known    bool
	}{"None": {"none", false, true}, "Pass-Through": {"pass-through", false, true}, "VGPU": {"vgpu", true, true}, "Host VGPU": {"host vgpu", false, true}, "N/A": {"", false, false}} {
		log, err := parseXML([]byte(`<nvidia_smi_log><attached_gpus>1</attached_gpus><gpu><gpu_virtualization_mode><virtualization_mode>` + mode + `</virtualization_mode></gpu_virtualization_mode></gpu></nvidia_smi_log>`))
		if err != nil {
			t.Fatal(err)
		}
		a := first(log)
		if a.Virtualization.Value != want.mode || a.VirtualFunction.Value != want.function || a.VirtualFunction.IsKnown() != want.known {
			t.Errorf("%s: %+v %+v", mode, a.Virtualization, a.VirtualFunction)
		}
	}
}
