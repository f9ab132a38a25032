// Package smbios reads the firmware's table of structures (DMTF DSP0134), as far as the probes need it.
package smbios

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
)

// Path is where the kernel shows the table; readable by root only.
const Path = "/sys/firmware/dmi/tables/DMI"

// Structure is one structure: its formatted bytes from the header on, and its strings.
type Structure struct {
	Kind    byte
	Data    []byte
	Strings []string
}

// Parse cuts a table into its structures (DMTF DSP0134 §6.1). What follows a broken structure is not guessed.
func Parse(b []byte) ([]Structure, error) {
	var list []Structure
	for len(b) >= 4 {
		length := int(b[1])
		if length < 4 || length > len(b) {
			return list, fmt.Errorf("%s is broken after %d structures", Path, len(list))
		}
		end := bytes.Index(b[length:], []byte{0, 0})
		if end < 0 {
			return list, fmt.Errorf("%s is cut off in structure %d", Path, len(list))
		}
		s := Structure{Kind: b[0], Data: b[:length]}
		if end > 0 {
			s.Strings = strings.Split(string(b[length:length+end]), "\x00")
		}
		list = append(list, s)
		if s.Kind == 127 {
			break
		}
		b = b[length+end+2:]
	}
	return list, nil
}

// Text gives the string whose number stands at an offset, "" when there is none.
func (s Structure) Text(offset int) string {
	if offset >= len(s.Data) || s.Data[offset] == 0 || int(s.Data[offset]) > len(s.Strings) {
		return ""
	}
	return strings.TrimSpace(s.Strings[s.Data[offset]-1])
}

// Number gives a little-endian number of 1, 2 or 4 bytes, 0 (which SMBIOS uses for unknown) beyond the structure.
func (s Structure) Number(offset, size int) uint32 {
	if offset+size > len(s.Data) {
		return 0
	}
	var four [4]byte
	copy(four[:], s.Data[offset:offset+size])
	return binary.LittleEndian.Uint32(four[:])
}

// Clean keeps the structures that are read here, without serial numbers and asset tags.
func Clean(b []byte) []byte {
	list, err := Parse(b)
	if err != nil {
		return nil
	}
	secret := map[byte][]int{0: nil, 17: {0x18, 0x19}, 127: nil}
	var out []byte
	for _, s := range list {
		offsets, ok := secret[s.Kind]
		if !ok {
			continue
		}
		for _, o := range offsets {
			if o < len(s.Data) && s.Data[o] > 0 && int(s.Data[o]) <= len(s.Strings) {
				s.Strings[s.Data[o]-1] = "cut"
			}
		}
		out = append(out, s.Data...)
		out = append(out, strings.Join(s.Strings, "\x00")+"\x00\x00"...)
	}
	return out
}
