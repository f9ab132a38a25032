package machine

import (
	"fmt"
	"strings"
	"testing"

	"assay/probes/smbios"
	"assay/probes/sut"
)

// table builds an SMBIOS table: structures with their strings.
func table(structures ...smbios.Structure) string {
	var b strings.Builder
	for _, s := range structures {
		data := append([]byte{s.Kind, byte(len(s.Data) + 4), 0, 0}, s.Data...)
		b.Write(data)
		b.WriteString(strings.Join(s.Strings, "\x00") + "\x00\x00")
	}
	return b.String()
}

// dimm gives the formatted part of a structure of type 17, from offset 4 on.
func dimm(size, extended uint32, kind byte, speed, configured uint16) []byte {
	d := make([]byte, 0x22-4)
	put := func(at int, v uint32, n int) {
		for i := range n {
			d[at-4+i] = byte(v >> (8 * i))
		}
	}
	put(0x0c, size, 2)
	put(0x10, 1, 1)
	put(0x0e, 9, 1)
	put(0x12, uint32(kind), 1)
	put(0x13, 1<<7|1<<13, 2)
	put(0x15, uint32(speed), 2)
	put(0x18, 2, 1)
	put(0x1b, 2, 1)
	put(0x1c, extended, 4)
	put(0x20, uint32(configured), 2)
	return d
}

func TestDIMMs(t *testing.T) {
	text := table(
		smbios.Structure{Kind: 17, Data: dimm(0x7fff, 65536, 0x22, 5600, 4800), Strings: []string{"A1", "SERIAL7"}},
		smbios.Structure{Kind: 17, Data: dimm(0, 0, 0x02, 0, 0), Strings: []string{"A2", "x"}},
		smbios.Structure{Kind: 17, Data: dimm(16384, 0, 0x1a, 2400, 1866), Strings: []string{"A3", "SERIAL8"}},
		smbios.Structure{Kind: 17, Data: dimm(0xffff, 0, 0x7f, 0, 0), Strings: []string{"A4", "x"}},
		smbios.Structure{Kind: 127},
	)
	list, err := smbios.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	dimms, slots := firmware{structures: list}.memorySlots()
	if slots != 4 || len(dimms) != 3 {
		t.Fatalf("%d of %d", len(dimms), slots)
	}
	if d := dimms[0]; d.SizeBytes.Value != 64<<30 || d.Type.Value != "DDR5" || d.SpeedMTS.Value != 5600 || d.ConfiguredMTS.Value != 4800 || d.Slot.Value != "A1" || d.Module.Value != "RDIMM" || d.Ranks.Value != 2 {
		t.Errorf("%+v", d)
	}
	if d := dimms[1]; d.SizeBytes.Value != 16<<30 || d.Type.Value != "DDR4" {
		t.Errorf("%+v", d)
	}
	if d := dimms[2]; d.SizeBytes.IsKnown() || d.Type.IsKnown() || d.SpeedMTS.IsKnown() {
		t.Errorf("%+v", d)
	}
	if (inventory{dimms: dimms, source: "x"}).bytes().IsKnown() || (inventory{dimms: dimms[:2], source: "x"}).bytes().Value != 80<<30 {
		t.Error("the sum")
	}
	if got := dimmSummary(dimms[:2]); got != "1 × 64 GiB DDR5-4800 RDIMM + 1 × 16 GiB DDR4-1866 RDIMM" {
		t.Error(got)
	}
	if clean := string(smbios.Clean([]byte(text))); strings.Contains(clean, "SERIAL") || !strings.Contains(clean, "A3") {
		t.Errorf("%q", clean)
	}
}

func TestModules(t *testing.T) {
	for _, tt := range []struct{ form, detail, want string }{
		{"DIMM", "Synchronous Registered (Buffered)", "RDIMM"}, {"DIMM", "Synchronous Unbuffered (Unregistered)", "UDIMM"}, {"DIMM", "Synchronous LRDIMM", "LRDIMM"},
		{"DIMM", "Synchronous", "DIMM"}, {"SODIMM", "Synchronous Unbuffered (Unregistered)", "SODIMM"}, {"Row Of Chips", "Synchronous", "soldered"}, {"CAMM", "", "CAMM"}, {"", "", ""},
	} {
		if f := moduleOf(tt.form, tt.detail, "x"); f.Value != tt.want {
			t.Errorf("%+v: %+v", tt, f)
		}
	}
}

func TestMeminfo(t *testing.T) {
	for text, want := range map[string]int64{
		"MemTotal:  790747444 kB\n": 790747444 << 10, "Node 0 MemTotal: 16 kB": 16 << 10, "MemTotal: x kB": -1, "": -1, "MemTotal:": -1, "MemTotal: -5 kB": -1, "XMemTotal: 5 kB": -1,
	} {
		if got, err := meminfoBytes(text, "MemTotal"); (err == nil) != (want >= 0) || (err == nil && got != want) {
			t.Errorf("%q: %d %v", text, got, err)
		}
	}
}

// udevLines is a record of two slots with a DIMM each and one without.
func udevLines(kind string, bytes int64) string {
	text := "E:MEMORY_ARRAY_EC_TYPE=Multi-bit ECC\nE:MEMORY_ARRAY_NUM_DEVICES=3\nE:MEMORY_DEVICE_2_PRESENT=0\n"
	for i := range 2 {
		for _, kv := range []string{
			fmt.Sprintf("SIZE=%d", bytes), "TYPE=" + kind, "TYPE_DETAIL=Synchronous Registered (Buffered)", "FORM_FACTOR=DIMM", "SPEED_MTS=5600", "CONFIGURED_SPEED_MTS=4800",
			fmt.Sprintf("LOCATOR=A%d", i+1), "RANK=2", "MANUFACTURER=Hynix", "PART_NUMBER=HMCG94", "SERIAL_NUMBER=S1",
		} {
			text += fmt.Sprintf("E:MEMORY_DEVICE_%d_%s\n", i, kv)
		}
	}
	return text
}

func TestUdevRecord(t *testing.T) {
	m := probeMemory(t, live(t, map[string]string{"run/udev/data/+dmi:id": udevLines("DDR5", 64<<30)}))
	if m.Summary.Value != "2 × 64 GiB DDR5-4800 RDIMM" || m.Slots.Value != 3 || m.InstalledBytes.Value != 128<<30 || m.ErrorCorrection.Value != "Multi-bit ECC" {
		t.Errorf("%+v", m)
	}
	if d := m.DIMMs.Items[1]; d.Slot.Value != "A2" || d.Ranks.Value != 2 || d.Manufacturer.Value != "Hynix" || d.PartNumber.Value != "HMCG94" {
		t.Errorf("%+v", d)
	}
}

// TestUdevIsOlderThanItsMemory: systemd writes "<OUT OF SPEC>" for a type that came after it; the memory controllers know it.
func TestUdevIsOlderThanItsMemory(t *testing.T) {
	files := map[string]string{"run/udev/data/+dmi:id": udevLines("<OUT OF SPEC>", 64<<30)}
	if m := probeMemory(t, live(t, files)); m.DIMMs.Items[0].Type.IsKnown() || m.Summary.Value != "2 × 64 GiB memory of unknown type-4800 RDIMM" {
		t.Errorf("%+v", m.Summary)
	}
	for i := range 2 {
		dir := fmt.Sprintf("sys/devices/system/edac/mc/mc%d/", i)
		files[dir+"ce_count"], files[dir+"ue_count"] = fmt.Sprint(3*i), "0"
		files[dir+"dimm0/size"], files[dir+"dimm0/dimm_mem_type"] = "65536", "Registered-DDR5"
		files[dir+"dimm1/size"], files[dir+"dimm1/dimm_mem_type"] = "0", "Empty"
	}
	m := probeMemory(t, live(t, files))
	if m.Summary.Value != "2 × 64 GiB DDR5-4800 RDIMM" || m.InstalledBytes.Other != "" {
		t.Errorf("%+v %+v", m.Summary, m.InstalledBytes)
	}
	if m.EDAC.Controllers.Value != 2 || m.EDAC.Correctable.Value != 3 || m.EDAC.Uncorrectable != sut.Known(int64(0), edacDir+"/mc*/ue_count") {
		t.Errorf("%+v", m.EDAC)
	}
}

// TestSourcesDisagree: what systemd wrote down at another time is shown beside the firmware's table.
func TestSourcesDisagree(t *testing.T) {
	text := table(smbios.Structure{Kind: 17, Data: dimm(0x7fff, 65536, 0x22, 5600, 4400), Strings: []string{"A1", "s"}}, smbios.Structure{Kind: 17, Data: dimm(0x7fff, 65536, 0x22, 5600, 4800), Strings: []string{"A2", "s"}})
	m := probeMemory(t, live(t, map[string]string{smbios.Path: text, "run/udev/data/+dmi:id": udevLines("DDR5", 32<<30)}))
	if m.InstalledBytes.Value != 128<<30 || !strings.HasPrefix(m.InstalledBytes.Other, "68719476736 by "+udevDMI) {
		t.Errorf("%+v", m.InstalledBytes)
	}
	if m.Slots.Value != 2 || !strings.HasPrefix(m.Slots.Other, "3 by ") {
		t.Errorf("%+v", m.Slots)
	}
	d := m.DIMMs.Items[0]
	if d.ConfiguredMTS.Value != 4400 || !strings.HasPrefix(d.ConfiguredMTS.Other, "4800 by ") || d.SpeedMTS.Other != "" || d.PartNumber.Value != "HMCG94" {
		t.Errorf("%+v", d)
	}
}

func TestNoDIMMs(t *testing.T) {
	m := probeMemory(t, live(t, map[string]string{"proc/meminfo": "MemTotal: 16 kB"}))
	for _, why := range []string{m.DIMMs.Unknown, m.InstalledBytes.Unknown, m.Slots.Unknown, m.Summary.Unknown} {
		for _, part := range []string{smbios.Path, udevDMI, "memory controller"} {
			if !strings.Contains(why, part) {
				t.Errorf("%q does not name %s", why, part)
			}
		}
	}
	if m.EDAC.Uncorrectable.Unknown == "" || m.CXL.Unknown != "" || m.HugePages.Unknown != "" || m.OnlineBytes.Unknown == "" {
		t.Errorf("%+v", m)
	}
}

// TestEDACAlone lists DIMMs that only the memory controllers know. A counter that cannot be read leaves no sum.
func TestEDACAlone(t *testing.T) {
	m := probeMemory(t, live(t, map[string]string{
		"sys/devices/system/edac/mc/mc0/ce_count": "1", "sys/devices/system/edac/mc/mc0/ue_count": "x", "sys/devices/system/edac/mc/mc0/dimm0/size": "32768",
		"sys/devices/system/edac/mc/mc0/dimm0/dimm_mem_type": "Load-Reduced-DDR4-RAM", "sys/devices/system/edac/mc/mc0/dimm0/dimm_label": "unknown memory controller#0",
		"sys/devices/system/edac/mc/mc0/dimm0/dimm_location": "channel 0 slot 0",
	}))
	if m.Summary.Value != "1 × 32 GiB DDR4 LRDIMM" || m.Slots.IsKnown() || m.DIMMs.Items[0].Slot.Value != "mc0 channel 0 slot 0" || m.EDAC.Uncorrectable.IsKnown() || m.EDAC.Correctable.Value != 1 {
		t.Errorf("%+v", m)
	}
}

func TestPoolsAndBlocks(t *testing.T) {
	m := probeMemory(t, live(t, map[string]string{
		"sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages": "512", "sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages": "12",
		"sys/devices/system/memory/block_size_bytes": "8000000", "sys/devices/system/memory/memory0/state": "online", "sys/devices/system/memory/memory1/state": "offline", "sys/devices/system/memory/memory10/state": "online",
	}))
	if p := m.HugePages.Items; len(p) != 1 || p[0].SizeBytes.Value != 2<<20 || p[0].Pages.Value != 512 || p[0].FreePages.Value != 12 {
		t.Errorf("%+v", p)
	}
	if m.OnlineBytes.Value != 2<<27 {
		t.Errorf("%+v", m.OnlineBytes)
	}
	m = probeMemory(t, live(t, map[string]string{"sys/devices/system/memory/block_size_bytes": "8000000", "sys/devices/system/memory/memory0/state": "N/A"}))
	if m.OnlineBytes.IsKnown() || !strings.Contains(m.OnlineBytes.Unknown, "N/A") {
		t.Errorf("%+v", m.OnlineBytes)
	}
}

func TestCXL(t *testing.T) {
	m := probeMemory(t, live(t, map[string]string{
		"sys/bus/cxl/devices/mem0/ram/size": "0x4000000000", "sys/bus/cxl/devices/mem0/numa_node": "1", "sys/bus/cxl/devices/decoder0.0/size": "0x1",
	}))
	if c := m.CXL.Items; len(c) != 1 || c[0].Bytes.Value != 256<<30 || c[0].NUMANode.Value != 1 || c[0].Name.Value != "mem0" {
		t.Errorf("%+v", c)
	}
}
