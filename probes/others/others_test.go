package others

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/probes/host"
	"assay/probes/pci"
	"assay/probes/sut"
)

// root is the way from the bus's list to a device of the root complex, and behind a port of it.
const root = "../../../devices/pci0000:00/"

// tree is a live machine of which the bus lists devices by the way that leads to them; files are below a device.
func tree(t *testing.T, devices map[string]map[string]string) host.Host {
	t.Helper()
	dir := t.TempDir()
	for way, files := range devices {
		link := filepath.Join(dir, "sys/bus/pci/devices", filepath.Base(way))
		if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(root+way, link); err != nil {
			t.Fatal(err)
		}
		for name, text := range files {
			put(t, filepath.Join(dir, "sys/devices/pci0000:00", way, name), text)
		}
	}
	return host.Host{Root: dir, Live: true, Uname: func() (host.Uname, error) { return host.Uname{Release: "6.18.0"}, nil }}
}

// put writes a file; one that is called driver becomes a link to a driver of that name.
func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	var err error
	if filepath.Base(name) == "driver" {
		err = os.Symlink("/sys/bus/pci/drivers/"+text, name)
	} else {
		err = os.WriteFile(name, []byte(text), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func probe(t *testing.T, h host.Host) []sut.Accelerator {
	t.Helper()
	var s sut.SUT
	if err := Probe(t.Context(), h, &s); err != nil {
		t.Fatal(err)
	}
	return s.Accelerators.Items
}

// TestOtherVendors: whatever computes is listed with its maker and address, once; what drives a screen alone, and what has rooms of its own, is not.
func TestOtherVendors(t *testing.T) {
	h := tree(t, map[string]map[string]string{
		"0000:00:01.0/0000:03:00.0": {"vendor": "0x8086", "device": "0xe211", "class": "0x030000", "driver": "xe", "numa_node": "0", "aer_dev_fatal": "TOTAL_ERR_FATAL 0"},
		"0000:00:02.0/0000:04:00.0": {"vendor": "0x1da3", "device": "0x1060", "class": "0x120000", "sriov_totalvfs": "0"},
		"0000:00:03.0/0000:05:00.0": {"vendor": "0x1a03", "device": "0x2000", "class": "0x030000", "driver": "ast"},
		"0000:00:04.0/0000:06:00.0": {"vendor": "0x10de", "device": "0x2330", "class": "0x030200", "driver": "nvidia"},
		"0000:00:05.0/0000:07:00.0": {"vendor": "0x1002", "device": "0x74a1", "class": "0x120000", "driver": "amdgpu"},
		"0000:00:06.0/0000:08:00.0": {"vendor": "0x8086", "device": "0x56c0", "class": "0x038000", "driver": "vfio-pci"},
		"0000:00:1f.0":              {"vendor": "0x8086", "device": "0x7a04", "class": "0x060100"},
		"0000:00:07.0/0000:09:00.0": {"vendor": "0x1af4", "device": "0x1050", "class": "0x038000", "driver": "virtio-pci"},
	})
	put(t, filepath.Join(h.Root, "usr/share/misc/pci.ids"), "1da3  Habana Labs Ltd.\n\t1060  Gaudi3\n8086  Intel Corporation\n\te211  Battlemage G21 [Arc Pro B60]\n")
	got := probe(t, h)
	if len(got) != 3 {
		t.Fatalf("%d accelerators", len(got))
	}
	for i, want := range []struct {
		address, vendor, name string
		usable                bool
		driver                string
	}{
		{"0000:04:00.0", "Habana Labs Ltd.", "Habana Labs Ltd. Gaudi3", false, ""},
		{"0000:03:00.0", "Intel", "Intel Corporation Battlemage G21 [Arc Pro B60]", true, "xe of kernel 6.18.0"},
		{"0000:08:00.0", "Intel", "", false, "vfio-pci of kernel 6.18.0"},
	} {
		a := got[i]
		if a.PCI.Address.Value != want.address || a.Vendor.Value != want.vendor || a.Name.Value != want.name || a.Usable.Value != want.usable || !a.Usable.IsKnown() || a.DriverVersion.Value != want.driver {
			t.Errorf("%+v %+v %+v %+v", a.Vendor, a.Name, a.Usable, a.DriverVersion)
		}
		if a.Kind.Value != "discrete" || a.VRAMBytes.Unknown == "" || a.PowerCapW.Unknown == "" || a.Processes.Unknown == "" || a.LinkErrors.AERFatal.IsKnown() != (i == 1) || a.VirtualFunction.IsKnown() != (i == 0) || a.VirtualFunction.Value {
			t.Errorf("%+v %+v", a.Kind, a.VRAMBytes)
		}
	}
	numbers := pci.Numbers(h)
	for address, want := range map[string]int{"0000:03:00.0": 0, "0000:04:00.0": 1, "0000:06:00.0": 2, "0000:07:00.0": 3, "0000:08:00.0": 4} {
		if numbers[address] != want {
			t.Errorf("%s is GPU %d", address, numbers[address])
		}
	}
	if got := probe(t, host.Host{Root: t.TempDir(), Live: true}); len(got) != 0 {
		t.Errorf("nothing: %+v", got)
	}
}

// TestMakerWithoutList: a vendor that no list names keeps its number.
func TestMakerWithoutList(t *testing.T) {
	got := probe(t, tree(t, map[string]map[string]string{"0000:00:01.0/0000:03:00.0": {"vendor": "0x1e52", "device": "0x401e", "class": "0x120000", "driver": "tenstorrent"}}))
	if len(got) != 1 || got[0].Vendor.Value != "PCI vendor 0x1e52" || got[0].Name.IsKnown() || !got[0].Usable.Value {
		t.Errorf("%+v", got)
	}
}

// TestUnknownPlace: in a capture without the tree of devices it is not known whether a GPU is a part of the processor.
func TestUnknownPlace(t *testing.T) {
	h := host.Host{Root: t.TempDir()}
	for name, text := range map[string]string{"vendor": "0x8086", "device": "0xe211", "class": "0x030000"} {
		put(t, filepath.Join(h.Root, "sys/bus/pci/devices/0000:03:00.0", name), text)
	}
	got := probe(t, h)
	if len(got) != 1 || got[0].Kind.IsKnown() || got[0].Usable.IsKnown() || got[0].UnifiedMemory.IsKnown() || got[0].VirtualFunction.IsKnown() || got[0].Link.ACSRedirect.Unknown == "" || got[0].Link.SlotMaxGTS.Unknown == "" {
		t.Errorf("%+v", got)
	}
}

// TestField_nvtop_493: the cap of an Intel B60 is its cap; the limit at which it protects itself is none.
func TestField_nvtop_493(t *testing.T) {
	card := func(files map[string]string) sut.Accelerator {
		all := map[string]string{"vendor": "0x8086", "device": "0xe211", "class": "0x030000", "driver": "xe"}
		for name, text := range files {
			all["hwmon/hwmon4/"+name] = text
		}
		return probe(t, tree(t, map[string]map[string]string{"0000:00:01.0/0000:03:00.0": all}))[0]
	}
	a := card(map[string]string{"power1_cap": "200000000", "power1_crit": "400000000", "temp2_label": "pkg", "temp2_input": "43000", "temp3_label": "vram", "temp3_input": "-1"})
	if a.PowerCapW.Value != 200 || a.PowerMaxW.IsKnown() || a.PowerDefaultW.IsKnown() || a.Temperatures.EdgeC.Value != 43 || a.Temperatures.MemC.IsKnown() {
		t.Errorf("%+v %+v", a.PowerCapW, a.Temperatures)
	}
	if a = card(map[string]string{"power1_max": "190000000", "power1_rated_max": "200000000", "power1_crit": "400000000"}); a.PowerCapW.Value != 190 || a.PowerDefaultW.Value != 200 {
		t.Errorf("%+v %+v", a.PowerCapW, a.PowerDefaultW)
	}
	if a = card(map[string]string{"power1_crit": "400000000"}); a.PowerCapW.IsKnown() {
		t.Errorf("only the critical limit: %+v", a.PowerCapW)
	}
	if a = card(map[string]string{"power1_cap": "0"}); a.PowerCapW.IsKnown() {
		t.Errorf("no limit: %+v", a.PowerCapW)
	}
}

// TestField_all_smi_364: a GPU that is a part of the processor is integrated whatever its name says, and its memory is the system's.
func TestField_all_smi_364(t *testing.T) {
	h := tree(t, map[string]map[string]string{"0000:00:02.0": {
		"vendor": "0x8086", "device": "0xb080", "class": "0x030000", "driver": "xe", "resource": "0x0000004000000000 0x0000004007ffffff 0x000000000014220c\n",
		"tile0/gt0/freq0/rp0_freq": "2500\n", "tile0/gt0/freq0/act_freq": "0\n",
	}})
	put(t, filepath.Join(h.Root, "usr/share/misc/pci.ids"), "8086  Intel Corporation\n\tb080  Panther Lake [Arc B390]\n")
	got := probe(t, h)
	if len(got) != 1 {
		t.Fatalf("%d accelerators", len(got))
	}
	a := got[0]
	if a.Kind.Value != "integrated" || !a.UnifiedMemory.Value || a.VRAMBytes.NA == "" || !strings.Contains(a.Name.Value, "Arc B390") || a.Clocks.GfxMaxMHz.Value != 2500 || a.Link.ACSRedirect.NA == "" || a.Link.SlotMaxGTS.NA == "" {
		t.Errorf("%+v %+v %+v %+v", a.Kind, a.UnifiedMemory, a.VRAMBytes, a.Clocks)
	}
}
