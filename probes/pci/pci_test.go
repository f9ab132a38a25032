package pci

import (
	"os"
	"path/filepath"
	"testing"

	"assay/probes/host"
)

const ids = "# list\n1002  Advanced Micro Devices\n\t73bf  Navi 21 [Radeon RX 6900 XT]\n\t\t1da2 440e  board\n10de  NVIDIA Corporation\n\t2330  GH100 [H100 SXM5 80GB]\nC 00  Class\n"

func TestLookup(t *testing.T) {
	for key, want := range map[[2]string]string{
		{"1002", "73bf"}: "Advanced Micro Devices Navi 21 [Radeon RX 6900 XT]", {"10de", "2330"}: "NVIDIA Corporation GH100 [H100 SXM5 80GB]",
		{"1002", "2330"}: "", {"1da2", "440e"}: "", {"", ""}: "", {"10de", ""}: "",
	} {
		if got := lookupPCI(ids, key[0], key[1]); got != want {
			t.Errorf("%v: %q", key, got)
		}
	}
}

func FuzzLookup(f *testing.F) {
	f.Add(ids, "1002", "73bf")
	f.Fuzz(func(t *testing.T, text, vendor, device string) { lookupPCI(text, vendor, device) })
}

func TestIsAddress(t *testing.T) {
	for s, want := range map[string]bool{"0000:1b:00.0": true, "10000:e1:00.0": true, "pci0000:00": false, "": false, "0000:1b:00": false, "virtual": false, "nvme0n1": false, "0000:1b:zz.0": false} {
		if IsAddress(s) != want {
			t.Errorf("IsAddress(%q) is not %t", s, want)
		}
	}
}

func TestGenerations(t *testing.T) {
	for gen, want := range map[int]float64{1: 2.5, 3: 8, 4: 16, 5: 32, 6: 64, 0: 0, 99: 0, -1: 0} {
		if got, err := GenerationGTS(gen); got != want || (err == nil) != (want > 0) {
			t.Errorf("generation %d: %g %v", gen, got, err)
		}
	}
}

// TestDiscovery finds processing accelerators and display devices of one vendor, each once, and no audio function, BMC or other vendor.
func TestDiscovery(t *testing.T) {
	dir := t.TempDir()
	for address, d := range map[string][2]string{
		"0000:c1:00.0": {"0x1002", "0x120000"}, "0000:05:00.0": {"0x1002", "0x030000"}, "0000:05:00.1": {"0x1002", "0x040300"}, "0000:01:00.0": {"0x1a03", "0x030000"}, "0000:02:00.0": {"0x10de", "0x030200"},
	} {
		at := filepath.Join(dir, "sys/bus/pci/devices", address)
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"vendor": d[0], "class": d[1], "max_link_speed": "Unknown", "current_link_width": "255"} {
			if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "sys/class/drm/card1"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../../bus/pci/devices/0000:c1:00.0", filepath.Join(dir, "sys/class/drm/card1/device")); err != nil {
		t.Fatal(err)
	}
	h := host.Host{Root: dir}
	got, complete := Accelerators(h, "0x1002")
	if len(got) != 2 || got[0].Address != "0000:05:00.0" || got[1].Address != "0000:c1:00.0" || !complete {
		t.Errorf("%+v %t", got, complete)
	}
	if l := LinkOf(h, got[0].Dir); l.MaxGTS.IsKnown() || l.Width.IsKnown() || l.GTS.Unknown == "" || l.SlotMaxGTS.Unknown == "" {
		t.Errorf("%+v", l)
	}
	if got, complete := Accelerators(host.Host{Root: t.TempDir()}, "0x1002"); len(got) != 0 || complete {
		t.Errorf("an empty capture: %+v %t", got, complete)
	}
}

func TestAER(t *testing.T) {
	for text, want := range map[string]int64{"RxErr 0\nBadTLP 3\nTOTAL_ERR_COR 7\n": 7, "TOTAL_ERR_COR 0": 0, "TOTAL_ERR_FATAL 1\n": -1, "TOTAL_ERR_COR -1": -1, "": -1, "TOTAL_ERR_COR 18446744073709551615": -1} {
		n, err := parseAER(text, "TOTAL_ERR_COR")
		if (err == nil) != (want >= 0) || (err == nil && n != want) {
			t.Errorf("%q: %d %v", text, n, err)
		}
	}
}

func FuzzAER(f *testing.F) {
	f.Add("RxErr 0\nTOTAL_ERR_COR 7\n")
	f.Fuzz(func(t *testing.T, text string) {
		if n, err := parseAER(text, "TOTAL_ERR_COR"); err == nil && n < 0 {
			t.Errorf("%d errors", n)
		}
	})
}

func FuzzSensors(f *testing.F) {
	f.Add("43000")
	f.Add("200000000")
	f.Add("18446744073709551615")
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := Celsius(text); err == nil && !(c > 0 && c <= 200) {
			t.Errorf("%q is %g °C", text, c)
		}
		if w, err := Watts(text); err == nil && !(w > 0 && w <= mostW) {
			t.Errorf("%q is %g W", text, w)
		}
	})
}
