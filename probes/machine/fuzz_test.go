package machine

import (
	"testing"

	"assay/probes/smbios"
)

func FuzzSMBIOS(f *testing.F) {
	f.Add([]byte(table(smbios.Structure{Kind: 17, Data: dimm(0x7fff, 65536, 0x22, 5600, 4800), Strings: []string{"A1", "S"}})))
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := smbios.Parse(b)
		table := firmware{list, err}
		dimms, slots := table.memorySlots()
		if len(dimms) > slots {
			t.Errorf("%d DIMMs in %d slots", len(dimms), slots)
		}
		all, populated, _ := table.sockets(table.processors())
		if populated.Value > all.Value {
			t.Errorf("%d processors in %d sockets", populated.Value, all.Value)
		}
		table.errorCorrection()
		table.text(1, 5, "product")
	})
}

func FuzzUdev(f *testing.F) {
	f.Add(udevLines("DDR5", 64<<30))
	f.Add("E:MEMORY_ARRAY_NUM_DEVICES=2\nE:MEMORY_DEVICE_0_SIZE=5\n")
	f.Fuzz(func(t *testing.T, text string) {
		dimms, slots := parseUdev(text).memorySlots()
		if len(dimms) > max(slots, 0) {
			t.Errorf("%d DIMMs in %d slots", len(dimms), slots)
		}
		for _, d := range dimms {
			if d.SizeBytes.Value <= 0 {
				t.Errorf("a DIMM of %d bytes", d.SizeBytes.Value)
			}
		}
		dimmSummary(dimms)
	})
}

// FuzzCPUList: what is read is written again as the same list.
func FuzzCPUList(f *testing.F) {
	f.Add("0-3,8")
	f.Add("5-4,x")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parseCPUList(text)
		if err != nil {
			return
		}
		again, err := parseCPUList(cpuList(list))
		if err != nil || cpuList(again) != cpuList(list) {
			t.Errorf("%q is %q and then %q, %v", text, cpuList(list), cpuList(again), err)
		}
	})
}

func FuzzCPUInfo(f *testing.F) {
	f.Add("processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: x\nflags : fpu hypervisor\n")
	f.Add("processor : 0\nCPU implementer : 0x41\nCPU part : 0xd4f\n")
	f.Add("cpu : POWER9, altivec supported\n")
	f.Fuzz(func(t *testing.T, text string) {
		blocks := parseCPUInfo(text)
		n := 0
		for _, kind := range modelTypes(blocks) {
			n += len(kind.cpus)
		}
		if n > len(blocks) {
			t.Errorf("%d CPUs of %d blocks", n, len(blocks))
		}
		for _, b := range blocks {
			b.vendor()
		}
		cpuFlags(text)
	})
}

// FuzzText feeds the readers of single lines and words.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"MemTotal: 5 kB\n", "0x00000000410fd871", "32768K", "07/11/2025", "hugepages-2048kB", "0::/docker/x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if n, err := meminfoBytes(text, "MemTotal"); err == nil && n < 0 {
			t.Errorf("%d bytes", n)
		}
		if n, err := parseCacheSize(text); err == nil && n <= 0 {
			t.Errorf("a cache of %d bytes", n)
		}
		if n, err := hugePageSize(text); err == nil && n <= 0 {
			t.Errorf("pages of %d bytes", n)
		}
		if s, err := boardText(text); err == nil && s == "" {
			t.Error("an empty board")
		}
		cgroupManager(text)
		parseMIDR(text)
		parseBIOSDate(text)
		armPart(text, text)
	})
}
