package machine

import (
	"fmt"

	"assay/probes/host"
	"assay/probes/smbios"
	"assay/probes/sut"
)

// firmware is the machine's table of structures, or why there is none.
type firmware struct {
	structures []smbios.Structure
	err        error
}

func readFirmware(h host.Host) firmware {
	b, err := h.Read(smbios.Path)
	if err != nil {
		return firmware{err: err}
	}
	list, err := smbios.Parse(b)
	return firmware{list, err}
}

func (t firmware) biosVersion() sut.Fact[string] { return t.biosText(0x05) }
func (t firmware) biosDate() sut.Fact[string]    { return t.biosText(0x08) }

func (t firmware) biosText(offset int) sut.Fact[string] {
	for _, s := range t.structures {
		if s.Kind == 0 && s.Text(offset) != "" {
			return sut.Known(s.Text(offset), "SMBIOS type 0")
		}
	}
	if t.err != nil {
		return sut.Unknown[string]("%s", t.err)
	}
	return sut.Unknown[string]("SMBIOS has no BIOS structure")
}

// memorySlots gives one DIMM per populated slot and the number of all slots, from the structures of type 17.
func (t firmware) memorySlots() (dimms []sut.DIMM, slots int) {
	for _, s := range t.structures {
		if s.Kind != 17 {
			continue
		}
		slots++
		if d, ok := parseDIMM(s); ok {
			dimms = append(dimms, d)
		}
	}
	return dimms, slots
}

// parseDIMM reads a structure of type 17; false for an empty slot.
func parseDIMM(s smbios.Structure) (sut.DIMM, bool) {
	const source = "SMBIOS type 17"
	size := s.Number(0x0c, 2)
	if size == 0 {
		return sut.DIMM{}, false
	}
	d := sut.DIMM{
		SizeBytes: sut.Known(int64(size)<<20, source), Type: memoryType(byte(s.Number(0x12, 1))),
		SpeedMTS: speedMTS(s, 0x15, 0x54), ConfiguredMTS: speedMTS(s, 0x20, 0x58), Slot: smbiosText(s, 0x10, "locator"),
	}
	switch {
	case size == 0xffff:
		d.SizeBytes = sut.Unknown[int64]("%s says the size is unknown", source)
	case size == 0x7fff:
		d.SizeBytes = sut.Known(int64(s.Number(0x1c, 4)&0x7fffffff)<<20, source)
	case size&0x8000 != 0:
		d.SizeBytes = sut.Known(int64(size&0x7fff)<<10, source)
	}
	return d, true
}

func smbiosText(s smbios.Structure, offset int, what string) sut.Fact[string] {
	if text, err := boardText(s.Text(offset)); err == nil {
		return sut.Known(text, fmt.Sprintf("SMBIOS type %d", s.Kind))
	}
	return sut.Unknown[string]("SMBIOS type %d has no %s", s.Kind, what)
}

func speedMTS(s smbios.Structure, offset, extended int) sut.Fact[int] {
	v := s.Number(offset, 2)
	if v == 0xffff {
		v = s.Number(extended, 4) & 0x7fffffff
	}
	if v == 0 {
		return sut.Unknown[int]("SMBIOS type 17 does not give it")
	}
	return sut.Known(int(v), "SMBIOS type 17")
}

func memoryType(code byte) sut.Fact[string] {
	names := map[byte]string{0x12: "DDR", 0x13: "DDR2", 0x18: "DDR3", 0x1a: "DDR4", 0x1b: "LPDDR", 0x1d: "LPDDR3", 0x1e: "LPDDR4", 0x20: "HBM", 0x21: "HBM2", 0x22: "DDR5", 0x23: "LPDDR5", 0x24: "HBM3"}
	if name, ok := names[code]; ok {
		return sut.Known(name, "SMBIOS type 17")
	}
	return sut.Unknown[string]("SMBIOS type 17 gives the code 0x%02x", code)
}
