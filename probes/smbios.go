package probes

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
)

const smbiosPath = "/sys/firmware/dmi/tables/DMI" // readable by root only

// smbios is the firmware's table of structures, or why there is none.
type smbios struct {
	structures []smbiosStructure
	err        error
}

// smbiosStructure is one structure: its formatted bytes from the header on, and its strings.
type smbiosStructure struct {
	kind    byte
	data    []byte
	strings []string
}

func smbiosTable(h Host) smbios {
	b, err := h.read(smbiosPath)
	if err != nil {
		return smbios{err: err}
	}
	list, err := parseSMBIOS(b)
	return smbios{list, err}
}

// parseSMBIOS cuts a table into its structures (DMTF DSP0134 §6.1). What follows a broken structure is not guessed.
func parseSMBIOS(b []byte) ([]smbiosStructure, error) {
	var list []smbiosStructure
	for len(b) >= 4 {
		length := int(b[1])
		if length < 4 || length > len(b) {
			return list, fmt.Errorf("%s is broken after %d structures", smbiosPath, len(list))
		}
		end := bytes.Index(b[length:], []byte{0, 0})
		if end < 0 {
			return list, fmt.Errorf("%s is cut off in structure %d", smbiosPath, len(list))
		}
		s := smbiosStructure{kind: b[0], data: b[:length]}
		if end > 0 {
			s.strings = strings.Split(string(b[length:length+end]), "\x00")
		}
		list = append(list, s)
		if s.kind == 127 {
			break
		}
		b = b[length+end+2:]
	}
	return list, nil
}

// text gives the string whose number stands at an offset, "" when there is none.
func (s smbiosStructure) text(offset int) string {
	if offset >= len(s.data) || s.data[offset] == 0 || int(s.data[offset]) > len(s.strings) {
		return ""
	}
	return strings.TrimSpace(s.strings[s.data[offset]-1])
}

// number gives a little-endian number of 1, 2 or 4 bytes, 0 (which SMBIOS uses for unknown) beyond the structure.
func (s smbiosStructure) number(offset, size int) uint32 {
	if offset+size > len(s.data) {
		return 0
	}
	var four [4]byte
	copy(four[:], s.data[offset:offset+size])
	return binary.LittleEndian.Uint32(four[:])
}

func (t smbios) biosVersion() Fact[string] { return t.biosText(0x05) }
func (t smbios) biosDate() Fact[string]    { return t.biosText(0x08) }

func (t smbios) biosText(offset int) Fact[string] {
	for _, s := range t.structures {
		if s.kind == 0 && s.text(offset) != "" {
			return Known(s.text(offset), "SMBIOS type 0")
		}
	}
	if t.err != nil {
		return Unknown[string]("%s", t.err)
	}
	return Unknown[string]("SMBIOS has no BIOS structure")
}

// memorySlots gives one DIMM per populated slot and the number of all slots, from the structures of type 17.
func (t smbios) memorySlots() (dimms []DIMM, slots int) {
	for _, s := range t.structures {
		if s.kind != 17 {
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
func parseDIMM(s smbiosStructure) (DIMM, bool) {
	const source = "SMBIOS type 17"
	size := s.number(0x0c, 2)
	if size == 0 {
		return DIMM{}, false
	}
	d := DIMM{
		SizeBytes: Known(int64(size)<<20, source), Type: memoryType(byte(s.number(0x12, 1))),
		SpeedMTS: speedMTS(s, 0x15, 0x54), ConfiguredMTS: speedMTS(s, 0x20, 0x58), Slot: smbiosText(s, 0x10, "locator"),
	}
	switch {
	case size == 0xffff:
		d.SizeBytes = Unknown[int64]("%s says the size is unknown", source)
	case size == 0x7fff:
		d.SizeBytes = Known(int64(s.number(0x1c, 4)&0x7fffffff)<<20, source)
	case size&0x8000 != 0:
		d.SizeBytes = Known(int64(size&0x7fff)<<10, source)
	}
	return d, true
}

func smbiosText(s smbiosStructure, offset int, what string) Fact[string] {
	if text, err := boardText(s.text(offset)); err == nil {
		return Known(text, fmt.Sprintf("SMBIOS type %d", s.kind))
	}
	return Unknown[string]("SMBIOS type %d has no %s", s.kind, what)
}

func speedMTS(s smbiosStructure, offset, extended int) Fact[int] {
	v := s.number(offset, 2)
	if v == 0xffff {
		v = s.number(extended, 4) & 0x7fffffff
	}
	if v == 0 {
		return Unknown[int]("SMBIOS type 17 does not give it")
	}
	return Known(int(v), "SMBIOS type 17")
}

func memoryType(code byte) Fact[string] {
	names := map[byte]string{0x12: "DDR", 0x13: "DDR2", 0x18: "DDR3", 0x1a: "DDR4", 0x1b: "LPDDR", 0x1d: "LPDDR3", 0x1e: "LPDDR4", 0x20: "HBM", 0x21: "HBM2", 0x22: "DDR5", 0x23: "LPDDR5", 0x24: "HBM3"}
	if name, ok := names[code]; ok {
		return Known(name, "SMBIOS type 17")
	}
	return Unknown[string]("SMBIOS type 17 gives the code 0x%02x", code)
}

// cleanSMBIOS keeps the structures that are read here, without serial numbers and asset tags.
func cleanSMBIOS(b []byte) []byte {
	list, err := parseSMBIOS(b)
	if err != nil {
		return nil
	}
	secret := map[byte][]int{0: nil, 17: {0x18, 0x19}, 127: nil}
	var out []byte
	for _, s := range list {
		offsets, ok := secret[s.kind]
		if !ok {
			continue
		}
		for _, o := range offsets {
			if o < len(s.data) && s.data[o] > 0 && int(s.data[o]) <= len(s.strings) {
				s.strings[s.data[o]-1] = "cut"
			}
		}
		out = append(out, s.data...)
		out = append(out, strings.Join(s.strings, "\x00")+"\x00\x00"...)
	}
	return out
}
