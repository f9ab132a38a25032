package gpu

import (
	"os"
	"strings"
	"testing"

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

// TestSMIFormsAgree reads one GPU from the text and from the CSV of the same second.
func TestSMIFormsAgree(t *testing.T) {
	text, err := parseSMIText(real(t, "nvidia-h100/cmd/load-q.txt"))
	if err != nil {
		t.Fatal(err)
	}
	table, err := parseSMICSV(real(t, "nvidia-h100/cmd/load-query-gpu.csv"))
	if err != nil {
		t.Fatal(err)
	}
	read := func(log *smiNode) sut.Accelerator {
		return smiReport{log: log, source: "x"}.accelerator(hostWithout(), 0, log.all("gpu")[0], sut.Known("d", "x"))
	}
	a, b := read(text), read(table)
	if a.Name.Value != b.Name.Value || a.PowerCapW.Value != b.PowerCapW.Value || a.PowerMinW.Value != b.PowerMinW.Value || a.VRAMBytes.Value != b.VRAMBytes.Value ||
		a.VBIOS.Value != b.VBIOS.Value || a.PCI.Address.Value != b.PCI.Address.Value || a.PCI.DeviceID.Value != b.PCI.DeviceID.Value ||
		a.ECC.Value != b.ECC.Value || a.Persistence.Value != b.Persistence.Value || a.Link.GTS.Value != b.Link.GTS.Value || a.Link.Width.Value != b.Link.Width.Value {
		t.Errorf("text %+v\nCSV %+v", a, b)
	}
	if a.PowerCapW.Value != 700 || a.PCI.Address.Value != "0000:00:09.0" || len(a.Throttle.Items)+len(b.Throttle.Items) != 0 || b.Throttle.Unknown != "" {
		t.Errorf("%+v", a)
	}
}

// TestSMINoValue reads every spelling of "none"; no number comes of it.
func TestSMINoValue(t *testing.T) {
	for _, none := range []string{
		"N/A", "[N/A]", "[Not Supported]", "Not Supported", "[Unknown Error]", "Unknown Error", "ERR!", "[GPU requires reset]", "[Insufficient Permissions]",
		"Requested functionality has been deprecated", "Not Found", "Unknown", "", "4294967295 W", "0xFFFFFFFF", "-1 W", "NaN", "Inf W", "18446744073709551615 W", "W",
	} {
		log, err := parseSMIXML([]byte(strings.ReplaceAll(smallXML, "%", none)))
		if err != nil {
			t.Fatalf("%q: %v", none, err)
		}
		a := smiReport{log: log, source: "x"}.accelerator(hostWithout(), 0, log.all("gpu")[0], sut.Fact[string]{})
		if a.PowerCapW.IsKnown() || a.ECC.IsKnown() || a.PowerCapW.Unknown == "" || !a.VRAMBytes.IsKnown() {
			t.Errorf("%q gives cap %+v, ECC %+v", none, a.PowerCapW, a.ECC)
		}
	}
}

// TestSMIBroken cuts reports everywhere; a part of a machine is never taken for a smaller one.
func TestSMIBroken(t *testing.T) {
	whole := []byte(smallXML)
	for n := range len(whole) - 1 {
		if log, err := parseSMIXML(whole[:n]); err == nil {
			t.Fatalf("cut at %d: %+v", n, log)
		}
	}
	for name, text := range map[string]string{
		"failure": "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", "empty": "", "html": "<html></html>", "deep": strings.Repeat("<a>", 1000),
		"no count": "<nvidia_smi_log><gpu/></nvidia_smi_log>", "more than announced": "<nvidia_smi_log><attached_gpus>0</attached_gpus><gpu/></nvidia_smi_log>",
		"absurd": "<nvidia_smi_log><attached_gpus>99999999</attached_gpus></nvidia_smi_log>",
	} {
		if log, err := parseSMIXML([]byte(text)); err == nil {
			t.Errorf("%s: %+v", name, log)
		}
		if log, err := parseSMIText([]byte(text)); err == nil {
			t.Errorf("%s as text: %+v", name, log)
		}
	}
	q := string(real(t, "nvidia-h100/cmd/load-q.txt"))
	if log, err := parseSMIText([]byte(strings.Replace(q, ": 1\n", ": 8\n", 1))); err == nil {
		t.Errorf("one of eight GPUs: %+v", log)
	}
	for name, text := range map[string]string{"empty": "", "ragged": "pci.bus_id, name\n1\n", "no address": "name\nX\n", "other count": "count, pci.bus_id\n8, 00000000:01:00.0\n"} {
		if log, err := parseSMICSV([]byte(text)); err == nil {
			t.Errorf("CSV %s: %+v", name, log)
		}
	}
}

func TestNVLinks(t *testing.T) {
	got := parseNVLinks("GPU 0: X (UUID: u)\n\t Link 0: 26.562 GB/s\n\t Link 1: <inactive>\nGPU 1: Y\nDevice does not have or support Nvlink\nGPU 2: Z\nNvlink queries are not supported for Devices in MIG mode\nGPU 3: W\n")
	if len(got) != 4 || got[0].Value != 1 || !got[1].IsKnown() || got[1].Value != 0 || got[2].IsKnown() || !strings.Contains(got[2].Unknown, "MIG") || got[3].IsKnown() {
		t.Errorf("%+v", got)
	}
}

func TestMIG(t *testing.T) {
	got := parseMIG("GPU 0: H100 (UUID: u)\n  MIG 3g.40gb     Device  0: (UUID: m)\n  MIG 1g.10gb Device 1: (UUID: n)\nGPU 1: H100\n")
	if len(got) != 2 || strings.Join(got[0], " ") != "3g.40gb 1g.10gb" || len(got[1]) != 0 {
		t.Errorf("%v", got)
	}
}

func FuzzSMIXML(f *testing.F) {
	f.Add([]byte(smallXML))
	f.Fuzz(func(t *testing.T, b []byte) { fuzzReport(t, parseSMIXML, b) })
}

func FuzzSMIText(f *testing.F) {
	f.Add(real(f, "nvidia-h100/cmd/load-q.txt"))
	f.Fuzz(func(t *testing.T, b []byte) { fuzzReport(t, parseSMIText, b) })
}

func FuzzSMICSV(f *testing.F) {
	f.Add(real(f, "nvidia-h100/cmd/load-query-gpu.csv"))
	f.Fuzz(func(t *testing.T, b []byte) { fuzzReport(t, parseSMICSV, b) })
}

// fuzzReport reads whatever a parser accepts: no panic, and a known number is a sane one.
func fuzzReport(t *testing.T, parse func([]byte) (*smiNode, error), b []byte) {
	log, err := parse(b)
	if err != nil {
		return
	}
	for i, g := range log.all("gpu") {
		a := smiReport{log: log, source: "x"}.accelerator(hostWithout(), i, g, sut.Fact[string]{})
		if v, ok := a.PowerCapW.Get(); ok && !(v >= 0 && v < 1e10) {
			t.Errorf("power cap %g", v)
		}
		if v, ok := a.VRAMBytes.Get(); ok && v <= 0 {
			t.Errorf("memory %d", v)
		}
	}
}

func FuzzNVLinks(f *testing.F) {
	f.Add("GPU 0: X\n Link 0: 26.562 GB/s\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, n := range parseNVLinks(text) {
			if n.Value < 0 {
				t.Errorf("%+v", n)
			}
		}
		parseMIG(text)
	})
}
