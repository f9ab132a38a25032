package nvidia

import (
	"os"
	"strings"
	"testing"

	"assay/probes/host"
	"assay/probes/sut"
)

const smallXML = `<?xml version="1.0" ?><!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd"><nvidia_smi_log><driver_version>580.1</driver_version>
<attached_gpus>1</attached_gpus><gpu id="00000000:0A:00.0"><product_name>X</product_name><fb_memory_usage><total>81559 MiB</total></fb_memory_usage>
<gpu_power_readings><current_power_limit>%</current_power_limit></gpu_power_readings><ecc_mode><current_ecc>%</current_ecc></ecc_mode></gpu></nvidia_smi_log>`

func real(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("../testdata/hosts/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestFormsAgree reads one GPU from the text and from the CSV of the same second.
func TestFormsAgree(t *testing.T) {
	text, err := parseText(real(t, "nvidia-h100/cmd/load-q.txt"))
	if err != nil {
		t.Fatal(err)
	}
	table, err := parseCSV(real(t, "nvidia-h100/cmd/load-query-gpu.csv"))
	if err != nil {
		t.Fatal(err)
	}
	a, b := first(text), first(table)
	if a.Name.Value != b.Name.Value || a.PowerCapW.Value != b.PowerCapW.Value || a.PowerMinW.Value != b.PowerMinW.Value || a.VRAMBytes.Value != b.VRAMBytes.Value ||
		a.VBIOS.Value != b.VBIOS.Value || a.PCI.Address.Value != b.PCI.Address.Value || a.PCI.DeviceID.Value != b.PCI.DeviceID.Value ||
		a.ECC.Value != b.ECC.Value || a.Persistence.Value != b.Persistence.Value || a.Link.GTS.Value != b.Link.GTS.Value || a.Link.Width.Value != b.Link.Width.Value {
		t.Errorf("text %+v\nCSV %+v", a, b)
	}
	if a.PowerCapW.Value != 700 || a.PCI.Address.Value != "0000:00:09.0" || len(a.Throttle.Items)+len(b.Throttle.Items) != 0 || b.Throttle.Unknown != "" {
		t.Errorf("%+v", a)
	}
}

// TestNoValue reads every spelling of "none"; no number comes of it.
func TestNoValue(t *testing.T) {
	for _, none := range []string{
		"N/A", "[N/A]", "[Not Supported]", "Not Supported", "[Unknown Error]", "Unknown Error", "ERR!", "[GPU requires reset]", "[Insufficient Permissions]",
		"Requested functionality has been deprecated", "Not Found", "Unknown", "", "4294967295 W", "0xFFFFFFFF", "-1 W", "NaN", "Inf W", "18446744073709551615 W", "W",
	} {
		log, err := parseXML([]byte(strings.ReplaceAll(smallXML, "%", none)))
		if err != nil {
			t.Fatalf("%q: %v", none, err)
		}
		a := first(log)
		if a.PowerCapW.IsKnown() || a.ECC.IsKnown() || a.PowerCapW.Unknown == "" || !a.VRAMBytes.IsKnown() {
			t.Errorf("%q gives cap %+v, ECC %+v", none, a.PowerCapW, a.ECC)
		}
	}
}

// TestDocumentTypes reads the words of old and new versions of the document as the same facts.
func TestDocumentTypes(t *testing.T) {
	const head = `<?xml version="1.0" ?><!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_%s.dtd"><nvidia_smi_log><driver_version>1.2</driver_version><attached_gpus>1</attached_gpus><gpu id="0000:0A:00.0">`
	const old = `<product_name>Tesla P100</product_name><ecc_errors><volatile><single_bit><total>1</total></single_bit><double_bit><total>2</total></double_bit></volatile></ecc_errors>
<retired_pages><multiple_single_bit_retirement><retired_count>3</retired_count></multiple_single_bit_retirement><double_bit_retirement><retired_count>0</retired_count></double_bit_retirement><pending_retirement>No</pending_retirement></retired_pages>
<clocks_throttle_reasons><clocks_throttle_reason_hw_slowdown>Active</clocks_throttle_reason_hw_slowdown></clocks_throttle_reasons>
<power_readings><power_state>P0</power_state><power_draw>150.00 W</power_draw><power_limit>250.00 W</power_limit><enforced_power_limit>240.00 W</enforced_power_limit></power_readings>`
	const recent = `<product_name>Tesla P100</product_name><ecc_errors><volatile><sram_correctable>0</sram_correctable><sram_uncorrectable_parity>1</sram_uncorrectable_parity><sram_uncorrectable_secded>0</sram_uncorrectable_secded><dram_correctable>1</dram_correctable><dram_uncorrectable>1</dram_uncorrectable></volatile></ecc_errors>
<remapped_rows><remapped_row_corr>3</remapped_row_corr><remapped_row_unc>0</remapped_row_unc><remapped_row_pending>No</remapped_row_pending><remapped_row_failure>No</remapped_row_failure></remapped_rows>
<clocks_event_reasons><clocks_event_reason_hw_slowdown>Active</clocks_event_reason_hw_slowdown></clocks_event_reasons>
<gpu_power_readings><instant_power_draw>150.00 W</instant_power_draw><current_power_limit>240.00 W</current_power_limit><requested_power_limit>250.00 W</requested_power_limit></gpu_power_readings>`
	for version, body := range map[string]string{"v9": old, "v10": old, "v11": old, "v12": recent, "v13": recent} {
		log, err := parseXML([]byte(strings.Replace(head, "%s", version, 1) + body + "</gpu></nvidia_smi_log>"))
		if err != nil {
			t.Fatal(err)
		}
		a := first(log)
		if a.RAS.Correctable.Value != 1 || a.RAS.Uncorrectable.Value != 2 || a.RAS.BadPages.Value != 3 || len(a.Throttle.Items) != 1 || a.PowerW.Value != 150 || a.PowerCapW.Value != 240 ||
			!strings.Contains(a.PowerCapW.Other, "250") || a.PCI.Address.Value != "0000:0a:00.0" {
			t.Errorf("%s: %+v %+v %+v", version, a.RAS, a.PowerCapW, a.Throttle)
		}
	}
}

// TestOneOfFour: what is said of the one GPU that is listed is not said of a machine of four.
func TestOneOfFour(t *testing.T) {
	text := strings.Replace(strings.ReplaceAll(smallXML, "%", "N/A"), "<attached_gpus>1", "<attached_gpus>4", 1)
	s := probe(t, machine(t, onBus("0000:0a:00.0"), map[string]string{"-q -x": text}))
	if a := s.Accelerators.Items; len(a) != 4 || a[0].P2PPeers.NA != "" || a[0].P2PPeers.IsKnown() || a[1].Usable.Value || s.Interconnect.Kind.IsKnown() || s.Interconnect.Links.Unknown == "" {
		t.Errorf("%+v", s.Interconnect)
	}
}

// TestQueryOfOldDriver: where only a query answers, a field that the driver does not know is not asked for, because it would fail the query.
func TestQueryOfOldDriver(t *testing.T) {
	const knows = "pci.bus_id,driver_version,memory.total,power.limit"
	help := "\"" + strings.ReplaceAll(knows, ",", "\" or \"x\"\n\"") + "\"\n"
	wanted := "--query-gpu=" + strings.Join([]string{"pci.bus_id", "driver_version", "memory.total", "power.limit"}, ",") + " --format=csv"
	s := probe(t, machine(t, onBus("0000:0a:00.0"), map[string]string{"--help-query-gpu": help, wanted: "pci.bus_id, driver_version, memory.total [MiB], power.limit [W]\n0000:0A:00.0, 418.1, 16160 MiB, 250.00 W\n"}))
	if a := s.Accelerators.Items; len(a) != 1 || a[0].PowerCapW.Value != 250 || a[0].DriverVersion.Value != "418.1" || a[0].VRAMBytes.Value != 16160<<20 {
		t.Errorf("%+v", s.Accelerators)
	}
}

// TestLinesBefore: what is printed before a record, in colour or with signs of its own, does not hide it.
func TestLinesBefore(t *testing.T) {
	for _, before := range []string{"", "WARNING: infoROM is corrupted at gpu 0000:0A:00.0\n", "<warning> driver 1 < 2\n", "\x1b[33mWARNING\x1b[0m\n"} {
		h := machine(t, onBus("0000:0a:00.0"), map[string]string{"-q -x": before + strings.ReplaceAll(smallXML, "%", "N/A")})
		if s := probe(t, h); len(s.Accelerators.Items) != 1 || s.Accelerators.Items[0].VRAMBytes.Value != 81559<<20 {
			t.Errorf("%q: %+v", before, s.Accelerators)
		}
	}
}

// TestBroken cuts reports everywhere; a part of a machine is never taken for a smaller one.
func TestBroken(t *testing.T) {
	whole := []byte(smallXML)
	for n := range len(whole) - 1 {
		if log, err := parseXML(whole[:n]); err == nil {
			t.Fatalf("cut at %d: %+v", n, log)
		}
	}
	for name, text := range map[string]string{
		"failure": "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", "empty": "", "html": "<html></html>", "deep": strings.Repeat("<a>", 1000),
		"no count": "<nvidia_smi_log><gpu/></nvidia_smi_log>", "more than announced": "<nvidia_smi_log><attached_gpus>0</attached_gpus><gpu/></nvidia_smi_log>",
		"absurd": "<nvidia_smi_log><attached_gpus>99999999</attached_gpus></nvidia_smi_log>",
	} {
		if log, err := parseXML([]byte(text)); err == nil {
			t.Errorf("%s: %+v", name, log)
		}
		if log, err := parseText([]byte(text)); err == nil {
			t.Errorf("%s as text: %+v", name, log)
		}
	}
	q := string(real(t, "nvidia-h100/cmd/load-q.txt"))
	if log, err := parseText([]byte(strings.Replace(q, ": 1\n", ": 8\n", 1))); err == nil {
		t.Errorf("one of eight GPUs: %+v", log)
	}
	for name, text := range map[string]string{"empty": "", "ragged": "pci.bus_id, name\n1\n", "no address": "name\nX\n", "other count": "count, pci.bus_id\n8, 00000000:01:00.0\n"} {
		if log, err := parseCSV([]byte(text)); err == nil {
			t.Errorf("CSV %s: %+v", name, log)
		}
	}
}

func FuzzXML(f *testing.F) {
	f.Add([]byte(smallXML))
	f.Fuzz(func(t *testing.T, b []byte) { fuzzReport(t, parseXML, b) })
}

func FuzzText(f *testing.F) {
	f.Add(real(f, "nvidia-h100/cmd/load-q.txt"))
	f.Fuzz(func(t *testing.T, b []byte) { fuzzReport(t, parseText, b) })
}

func FuzzCSV(f *testing.F) {
	f.Add(real(f, "nvidia-h100/cmd/load-query-gpu.csv"))
	f.Fuzz(func(t *testing.T, b []byte) { fuzzReport(t, parseCSV, b) })
}

// fuzzReport reads whatever a parser accepts: no panic, and a known number is a sane one.
func fuzzReport(t *testing.T, parse func([]byte) (*node, error), b []byte) {
	log, err := parse(b)
	if err != nil {
		return
	}
	for i, g := range log.all("gpu") {
		a := report{log: log, source: "x"}.gpu(hostWithout(), i, g, driver{}).read()
		if v, ok := a.PowerCapW.Get(); ok && !(v >= 0 && v < 1e10) {
			t.Errorf("power cap %g", v)
		}
		if v, ok := a.VRAMBytes.Get(); ok && v <= 0 {
			t.Errorf("memory %d", v)
		}
	}
}

// first reads the first GPU of a record on a host that has nothing else.
func first(log *node) sut.Accelerator {
	return report{log: log, source: "x"}.gpu(hostWithout(), 0, log.all("gpu")[0], driver{}).read()
}

// hostWithout is a host that has no files and runs nothing.
func hostWithout() host.Host { return host.Host{Root: "/nonexistent"} }
