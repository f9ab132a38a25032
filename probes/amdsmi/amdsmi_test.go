package amdsmi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/probes/host"
	"assay/probes/sut"
)

// tools is a host on which these commands print these texts, and all others are not there.
func tools(outputs map[string]string) host.Host {
	return host.Host{Root: "/nonexistent", Exec: func(ctx context.Context, argv ...string) (host.Output, error) {
		out, ok := outputs[strings.Join(argv, " ")]
		switch {
		case !ok:
			return host.Output{}, fmt.Errorf("%s: %w", argv[0], host.ErrNotFound)
		case out == "hang":
			<-ctx.Done()
			return host.Output{}, ctx.Err()
		}
		return host.Output{Stdout: []byte(out)}, nil
	}}
}

// probe is what Probe makes of a machine with these tools.
func probe(t *testing.T, outputs map[string]string) sut.SUT {
	t.Helper()
	var s sut.SUT
	if err := Probe(t.Context(), tools(outputs), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// one is the only accelerator that static tells of.
func one(t *testing.T, static string) sut.Accelerator {
	t.Helper()
	s := probe(t, map[string]string{"amd-smi static --json": static})
	if len(s.Accelerators.Items) != 1 {
		t.Fatalf("%d accelerators of %s: %s", len(s.Accelerators.Items), static, s.Accelerators.Unknown)
	}
	return s.Accelerators.Items[0]
}

// TestShapes: the flat list of older versions and the object of newer ones hold the same.
func TestShapes(t *testing.T) {
	const gpu = `{"gpu":0,"asic":{"market_name":"AMD Instinct MI300X","device_id":"0x74a1","num_compute_units":304,"asic_serial":"0xF00000000000000A"},
		"bus":{"bdf":"0000:0C:00.0"},"limit":{"max_power":{"value":750,"unit":"W"},"min_power":{"value":0,"unit":"W"},"socket_power":"750 W"},
		"vram":{"type":"HBM3","vendor":"HYNIX","size":{"value":196592,"unit":"MB"}},"numa":{"node":1},
		"vbios":{"part_number":"113-M3000100-103"},"driver":{"version":"6.10.5"},"partition":{"compute_partition":"SPX","memory_partition":"NPS1"}}`
	const warned = "\x1b[33mWARNING: [driver] User is not in group [video]\x1b[0m\n"
	var first sut.Accelerator
	for i, form := range []string{"[" + gpu + "]", `{"gpu_data":[` + gpu + `]}`, warned + "[" + gpu + "]\n", warned + `{"gpu_data": [` + gpu + `]}` + "\nLegend: {x}"} {
		a := one(t, form)
		if i == 0 {
			first = a
		}
		if diff := cmp.Diff(first, a); diff != "" {
			t.Errorf("form %d (-first +this)\n%s", i, diff)
		}
	}
	want := map[string]any{
		"name": "AMD Instinct MI300X", "address": "0000:0c:00.0", "id": "0x74a1", "cu": 304, "vram": int64(206141652992), "cap": 750.0, "max": 750.0, "min": 0.0, "vbios": "113-M3000100-103",
		"driver": "6.10.5", "compute": "SPX", "memory": "NPS1", "type": "HBM3", "vendor": "HYNIX", "numa": 1, "serial": host.SerialHash("f00000000000000a"), "count": 1,
	}
	a := first
	got := map[string]any{
		"name": a.Name.Value, "address": a.PCI.Address.Value, "id": a.PCI.DeviceID.Value, "cu": a.ComputeUnits.Value, "vram": a.VRAMBytes.Value, "cap": a.PowerCapW.Value, "max": a.PowerMaxW.Value,
		"min": a.PowerMinW.Value, "vbios": a.VBIOS.Value, "driver": a.DriverVersion.Value, "compute": a.Partition.Compute.Value, "memory": a.Partition.Memory.Value, "type": a.MemoryType.Value,
		"vendor": a.MemoryVendor.Value, "numa": a.NUMANode.Value, "serial": a.SerialHash.Value, "count": a.Partition.Count.Value,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestNewerKeys: limits of two domains, IFWI in place of the VBIOS, keys in another case, partitions in three documents.
func TestNewerKeys(t *testing.T) {
	s := probe(t, map[string]string{
		"amd-smi list --json": `[{"gpu":0,"bdf":"0000:05:00.0","partition_id":0},{"gpu":1,"bdf":"0000:05:00.1","partition_id":1}]`,
		"amd-smi static --json": `{"gpu_data":[{"gpu":0,"ASIC":{"NUM_COMPUTE_UNITS":128},"ifwi":{"version":"00182096","part_number":"113-M3550100-101"},
			"limit":{"ppt0":{"max_power_limit":{"value":1400,"unit":"W"},"socket_power_limit":{"value":1400,"unit":"W"}},"ppt1":{"socket_power_limit":"N/A"}},
			"vram":{"size":{"value":294896,"unit":"MB"}}},{"gpu":1,"asic":{"num_compute_units":128},"vram":{"size":{"value":147448,"unit":"MB"}}}]}`,
		"amd-smi partition --json": `{"current_partition":[{"gpu_id":0,"memory":"NPS2","accelerator_type":"DPX","partition_id":"0"}]}` + "\n" +
			`{"memory_partition":[{"gpu_id":0,"current_memory_partition":"NPS2"}]}` + "\nLegend:\n  * = current\n",
		"amd-smi version --json":  `[{"tool":"AMDSMI Tool","version":"27.0.0","rocm_version":"10.0.0"}]`,
		"amd-smi firmware --json": `[{"gpu":0,"fw_list":[{"fw_id":"PM","fw_version":"1"},{"fw_id":"PLDM_BUNDLE","fw_version":"01.25.00.01"}]}]`,
		"amd-smi metric --json": `{"gpu_data":[{"gpu":0,"pcie":{"width":16,"speed":{"value":32,"unit":"GT/s"},"replay_count":3,"nak_sent_count":"N/A"},
			"ecc":{"total_correctable_count":2,"total_uncorrectable_count":0},"temperature":{"hotspot":{"value":45,"unit":"C"},"mem":{"value":65535,"unit":"C"}},
			"mem_usage":{"used_vram":{"value":283,"unit":"MB"}}}]}`,
	})
	if len(s.Accelerators.Items) != 1 || s.Software.ROCm.Value != "10.0.0" {
		t.Fatalf("%d devices, %+v", len(s.Accelerators.Items), s.Software.ROCm)
	}
	a := s.Accelerators.Items[0]
	want := []any{"00182096", "113-M3550100-101", 1400.0, 256, 2, "DPX", "NPS2", int64(294896) << 20, int64(147448) << 20, 128, "01.25.00.01", 32.0, int64(3), int64(2), int64(0), 45.0, int64(283) << 20}
	got := []any{
		a.IFWI.Value, a.VBIOS.Value, a.PowerCapW.Value, a.ComputeUnits.Value, a.Partition.Count.Value, a.Partition.Compute.Value, a.Partition.Memory.Value, a.VRAMBytes.Value, a.Partition.VRAMBytes.Value,
		a.Partition.ComputeUnits.Value, a.Firmware.Items[0].Version.Value, a.Link.GTS.Value, a.LinkErrors.Replays.Value, a.RAS.Correctable.Value, a.RAS.Uncorrectable.Value, a.Temperatures.HotspotC.Value,
		a.VRAMUsedBytes.Value,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if a.LinkErrors.NAKsSent.IsKnown() || a.Temperatures.MemC.IsKnown() {
		t.Errorf("%+v, %+v", a.LinkErrors.NAKsSent, a.Temperatures.MemC)
	}
}

// TestNoValue: every way to say that there is none.
func TestNoValue(t *testing.T) {
	for _, v := range []string{`"N/A"`, `""`, `null`, `65535`, `"65535"`, `4294967295`, `18446744073709551615`, `"18446744073709551615"`, `{"value":"N/A","unit":"W"}`, `{}`, `[]`, `"ERR!"`,
		`"AMDSMI_STATUS_NOT_SUPPORTED - Feature not supported"`, `{"value":4294967295,"unit":"W"}`, `"750 kW"`, `"0xffffffffffffffff"`, `true`} {
		a := one(t, `[{"gpu":0,"limit":{"socket_power":`+v+`},"asic":{"asic_serial":`+v+`,"num_compute_units":`+v+`},"vram":{"size":`+v+`},"numa":{"node":`+v+`}}]`)
		if a.PowerCapW.IsKnown() || a.ComputeUnits.IsKnown() || a.VRAMBytes.IsKnown() || a.NUMANode.IsKnown() {
			t.Errorf("%s is a value: %+v %+v %+v %+v", v, a.PowerCapW, a.ComputeUnits, a.VRAMBytes, a.NUMANode)
		}
	}
}

// TestSilence: what a tool that tells nothing costs, and what is said of it.
func TestSilence(t *testing.T) {
	for want, outputs := range map[string]map[string]string{
		"amd-smi is not installed; rocm-smi is not installed": {},
		"its output holds no JSON":                            {"amd-smi static --json": "ERROR: no GPU [1]"},
		"its output is cut off":                               {"amd-smi static --json": `{"gpu_data":[{"gpu":0,"asic":{"market_name":"AMD`},
		"groups render and video":                             {"amd-smi static --json": "ERROR: User is missing the following required groups: video, render\n"},
		"lists no GPU":                                        {"amd-smi static --json": "[]", "amd-smi list --json": "[]"},
		"rocm-smi lists no card":                              {"rocm-smi -a --json": `{"system":{"Driver version":"6.1"}}`},
	} {
		s := probe(t, outputs)
		if len(s.Accelerators.Items) != 0 || !strings.Contains(s.Accelerators.Unknown, want) {
			t.Errorf("%q: %q", want, s.Accelerators.Unknown)
		}
	}
}

// TestField_amdsmi_changelog: what versions of the tool did wrong costs the facts that they told wrongly, and no other.
func TestField_amdsmi_changelog(t *testing.T) {
	answers := map[string]string{
		"amd-smi static --json":  `[{"gpu":0,"vram":{"type":"UNKNOWN_7","size":{"value":96432,"unit":"MB"}},"asic":{"device_id":"0x74a0","market_name":"AMD Instinct MI300A"}}]`,
		"amd-smi metric --json":  `[{"gpu":0,"usage":{"gfx_activity":{"value":0,"unit":"%"}},"process_list":[{"process_info":{"name":"x","pid":7}}]}]`,
		"amd-smi process --json": `[{"gpu":0,"process_list":[{"process_info":{"name":"x","pid":7}}]}]`,
	}
	h, asked := tools(answers), []string{}
	run := h.Exec
	h.Exec = func(ctx context.Context, argv ...string) (host.Output, error) {
		asked = append(asked, argv[1])
		return run(ctx, argv...)
	}
	var s sut.SUT
	if err := Probe(t.Context(), h, &s); err != nil || len(s.Accelerators.Items) != 1 {
		t.Fatalf("%v: %+v", err, s.Accelerators)
	}
	a := s.Accelerators.Items[0]
	if a.VRAMBytes.IsKnown() || !strings.Contains(a.VRAMBytes.Unknown, "APU") || a.MemoryType.IsKnown() {
		t.Errorf("the part of an APU's memory that was set aside, or a word that is no kind of memory, is taken: %+v, %+v", a.VRAMBytes, a.MemoryType)
	}
	if slices.Contains(asked, "process") || len(a.Processes.Items) != 0 {
		t.Errorf("the tool's processes, which stood at every GPU, are taken: %v, %+v", asked, a.Processes)
	}
	if a.UtilPct.IsKnown() {
		t.Errorf("0 for an occupancy that is not known is taken: %+v", a.UtilPct)
	}
	records := "{\"error_severity\":\"fatal\",\"notify_type\":\"MCE\"}\n{\"error_severity\":\"fatal\"}\n,\n"
	if docs, err := documents([]byte(records)); err != nil || len(docs) != 2 {
		t.Errorf("two records that are no JSON together: %v, %v", docs, err)
	}
}

// TestPublicCPER reads a record of a fatal error that was captured on a real machine, after the warnings that the tool prints before it.
func TestPublicCPER(t *testing.T) {
	b, err := os.ReadFile("../../../shared/fixtures/amd/amd-smi-ras/fatal-1.json")
	if err != nil {
		t.Skipf("no public captures here: %v", err)
	}
	docs, err := documents(append([]byte("Dumping CPER [fatal] {1}:\n\x1b[1m"), b...))
	if err != nil {
		t.Fatal(err)
	}
	list := entries(docs)
	last := answer{node: list[len(list)-1], command: "amd-smi ras"}
	if severity, size := last.text("error_severity"), last.number("", "record_length"); severity.Value != "fatal" || size.Value != 376 || last.text("signature_end").IsKnown() {
		t.Errorf("%+v %+v %+v", severity, size, last.text("signature_end"))
	}
}

// TestField_amdsmi_hang: a command that hangs is left at its limit; the others tell what they know.
func TestField_amdsmi_hang(t *testing.T) {
	h := tools(map[string]string{"amd-smi list --json": `[{"gpu":0,"bdf":"0000:05:00.0"}]`, "amd-smi static --json": "hang", "amd-smi version --json": "hang", "amd-smi metric --json": `[{"gpu":0}]`})
	ctx, cancel := context.WithCancel(t.Context())
	run := h.Exec
	var asked []string
	h.Exec = func(_ context.Context, argv ...string) (host.Output, error) {
		if asked = append(asked, argv[1]); argv[1] == "static" || argv[1] == "version" {
			return host.Output{}, context.DeadlineExceeded
		}
		return run(ctx, argv...)
	}
	defer cancel()
	var s sut.SUT
	if err := Probe(ctx, h, &s); err != nil {
		t.Fatal(err)
	}
	if len(s.Accelerators.Items) != 1 || s.Accelerators.Items[0].PCI.Address.Value != "0000:05:00.0" {
		t.Fatalf("%+v", s.Accelerators)
	}
	if name := s.Accelerators.Items[0].Name; name.IsKnown() || !strings.Contains(name.Unknown, "took too long") {
		t.Errorf("%+v", name)
	}
	if diff := cmp.Diff([]string{"list", "static", "version"}, asked); diff != "" {
		t.Errorf("after two that hung others were asked (-want +got)\n%s", diff)
	}
}

// TestDriverVersion: a driver that came with the kernel is called by the kernel's version.
func TestDriverVersion(t *testing.T) {
	for from, want := range map[string]string{
		"Linuxversion6.8.0-79-generic(buildd@lcy02-amd64-010)(x86_64-linux-gnu-gcc-13": "in-tree 6.8.0-79-generic",
		"Linux version 6.14.0-24-generic (buildd@x)":                                   "in-tree 6.14.0-24-generic",
		"6.16.13": "6.16.13", "7.1.0.0": "7.1.0.0",
	} {
		if got, err := driverVersion(from); err != nil || got != want {
			t.Errorf("%q becomes %q, %v", from, got, err)
		}
	}
}

// TestField_PVEmods_348: an APU whose limits are all 0 W has none.
func TestField_PVEmods_348(t *testing.T) {
	a := one(t, `[{"gpu":0,"asic":{"market_name":"AMD Radeon 780M"},"limit":{"max_power":{"value":0,"unit":"W"},"min_power":{"value":0,"unit":"W"},"socket_power":{"value":0,"unit":"W"}}}]`)
	if a.PowerCapW.IsKnown() || a.PowerMinW.IsKnown() || a.PowerMaxW.IsKnown() {
		t.Errorf("%+v %+v %+v", a.PowerCapW, a.PowerMinW, a.PowerMaxW)
	}
}

// FuzzDocuments reads outputs of any kind: no panic, and what is read of a GPU is no sentinel.
func FuzzDocuments(f *testing.F) {
	for _, s := range []string{`[{"gpu":0}]`, `{"gpu_data":[{"gpu":1,"limit":{"socket_power":65535}}]}`, "WARN [x] {", `{"card0":{"Unique ID":"0xf0"}}`, "\x1b[1m[{}]\x1b[0m", `[[[`, `{"gpu_data":{"gpu_data":[]}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		docs, err := documents(b)
		if err != nil && len(docs) > 0 {
			t.Errorf("%d documents, and %v", len(docs), err)
		}
		h := tools(map[string]string{"amd-smi static --json": string(b), "rocm-smi -a --json": string(b)})
		var s sut.SUT
		if err := Probe(context.Background(), h, &s); err != nil {
			t.Fatal(err)
		}
		for _, a := range s.Accelerators.Items {
			if a.PowerCapW.IsKnown() && (a.PowerCapW.Value <= 0 || a.PowerCapW.Value == 65535) {
				t.Errorf("%s has a cap of %g W", b, a.PowerCapW.Value)
			}
		}
	})
}

// FuzzQuantity reads a value of any kind.
func FuzzQuantity(f *testing.F) {
	for _, s := range []string{`750`, `"750 W"`, `{"value":750,"unit":"W"}`, `{"value":{"value":1}}`, `"1e999 W"`, `18446744073709551615`, `"-5 W"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d := json.NewDecoder(strings.NewReader(s))
		d.UseNumber()
		var v any
		if d.Decode(&v) != nil {
			return
		}
		if n, _, ok := quantity(v); ok && (n == 65535 || n == 4294967295 || n != n) {
			t.Errorf("%s is %g", s, n)
		}
	})
}

// TestErrorsStayWords: a tool that cannot be run is told of in words.
func TestErrorsStayWords(t *testing.T) {
	h := tools(nil)
	h.Exec = func(context.Context, ...string) (host.Output, error) {
		return host.Output{}, errors.New("run amd-smi: permission denied")
	}
	var s sut.SUT
	if err := Probe(t.Context(), h, &s); err != nil || !strings.Contains(s.Accelerators.Unknown, "permission denied") {
		t.Errorf("%v, %q", err, s.Accelerators.Unknown)
	}
}
