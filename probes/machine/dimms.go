package machine

import (
	"strings"

	"assay/probes/smbios"
	"assay/probes/sut"
)

const dimmSource = "SMBIOS type 17"

// memorySlots gives one DIMM per populated slot and the number of all slots, from the structures of type 17.
func (t firmware) memorySlots() (dimms []sut.DIMM, slots int) {
	for _, s := range t.of(17) {
		slots++
		if d, ok := parseDIMM(s); ok {
			dimms = append(dimms, d)
		}
	}
	return dimms, slots
}

// parseDIMM reads a structure of type 17; false for an empty slot.
func parseDIMM(s smbios.Structure) (sut.DIMM, bool) {
	if s.Number(0x0c, 2) == 0 {
		return sut.DIMM{}, false
	}
	return sut.DIMM{
		SizeBytes: dimmSize(s), Type: memoryType(byte(s.Number(0x12, 1))), Module: moduleOf(formFactor(byte(s.Number(0x0e, 1))), typeDetail(s.Number(0x13, 2)), dimmSource),
		SpeedMTS: speedMTS(s, 0x15, 0x54), ConfiguredMTS: speedMTS(s, 0x20, 0x58), Ranks: ranks(s),
		Manufacturer: smbiosText(s, 0x17, "maker"), PartNumber: smbiosText(s, 0x1a, "part number"), Slot: smbiosText(s, 0x10, "locator"),
	}, true
}

// dimmSize reads a size whose unit each structure chooses: MiB, KiB by the highest bit, or MiB in a field of its own from 32 GiB on.
func dimmSize(s smbios.Structure) sut.Fact[int64] {
	switch size := s.Number(0x0c, 2); {
	case size == 0xffff:
		return sut.Unknown[int64]("%s says the size is unknown", dimmSource)
	case size == 0x7fff:
		return sut.Known(int64(s.Number(0x1c, 4)&0x7fffffff)<<20, dimmSource)
	case size&0x8000 != 0:
		return sut.Known(int64(size&0x7fff)<<10, dimmSource)
	default:
		return sut.Known(int64(size)<<20, dimmSource)
	}
}

func speedMTS(s smbios.Structure, offset, extended int) sut.Fact[int] {
	v := s.Number(offset, 2)
	if v == 0xffff {
		v = s.Number(extended, 4) & 0x7fffffff
	}
	if v == 0 {
		return sut.Unknown[int]("%s does not give it", dimmSource)
	}
	return sut.Known(int(v), dimmSource)
}

func ranks(s smbios.Structure) sut.Fact[int] {
	if n := s.Number(0x1b, 1) & 0x0f; n > 0 {
		return sut.Known(int(n), dimmSource)
	}
	return sut.Unknown[int]("%s does not give it", dimmSource)
}

func memoryType(code byte) sut.Fact[string] {
	names := map[byte]string{
		0x12: "DDR", 0x13: "DDR2", 0x18: "DDR3", 0x1a: "DDR4", 0x1b: "LPDDR", 0x1c: "LPDDR2", 0x1d: "LPDDR3", 0x1e: "LPDDR4", 0x1f: "NVDIMM",
		0x20: "HBM", 0x21: "HBM2", 0x22: "DDR5", 0x23: "LPDDR5", 0x24: "HBM3",
	}
	if name, ok := names[code]; ok {
		return sut.Known(name, dimmSource)
	}
	return sut.Unknown[string]("%s gives the code 0x%02x", dimmSource, code)
}

// formFactor and typeDetail word the codes as the udev record has them.
func formFactor(code byte) string {
	return map[byte]string{0x03: "SIMM", 0x09: "DIMM", 0x0b: "Row Of Chips", 0x0d: "SODIMM", 0x0f: "FB-DIMM", 0x10: "Die", 0x11: "CAMM"}[code]
}

func typeDetail(bits uint32) string {
	var words []string
	for bit, word := range map[int]string{13: "Registered (Buffered)", 14: "Unbuffered (Unregistered)", 15: "LRDIMM"} {
		if bits>>bit&1 == 1 {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

// moduleOf names a module by its form and by what stands between its chips and the bus. Firmware that tells only the form gives "DIMM".
func moduleOf(form, detail, source string) sut.Fact[string] {
	switch {
	case form == "Row Of Chips" || form == "Die":
		return sut.Known("soldered", source)
	case strings.Contains(detail, "LRDIMM"):
		return sut.Known("LRDIMM", source)
	case strings.Contains(detail, "Registered (Buffered)") && form == "DIMM":
		return sut.Known("RDIMM", source)
	case strings.Contains(detail, "Unbuffered") && form == "DIMM":
		return sut.Known("UDIMM", source)
	case form != "":
		return sut.Known(form, source)
	}
	return sut.Unknown[string]("%s does not give its form", source)
}

// errorCorrection gives what the memory array that holds the system's memory corrects.
func (t firmware) errorCorrection() sut.Fact[string] {
	names := map[uint32]string{1: "Other", 3: "None", 4: "Parity", 5: "Single-bit ECC", 6: "Multi-bit ECC", 7: "CRC"}
	for _, s := range t.of(16) {
		if name := names[s.Number(0x06, 1)]; s.Number(0x05, 1) == 3 && name != "" {
			return sut.Known(name, "SMBIOS type 16")
		}
	}
	if t.err != nil {
		return sut.Unknown[string]("%s", t.err)
	}
	return sut.Unknown[string]("SMBIOS has no array of system memory that tells it")
}
