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

// Parse cuts a table into its structures (SMBIOS specification, 6.1). What follows a broken structure is not guessed.
func Parse(b []byte) ([]Structure, error) {
	var list []Structure
	for len(b) >= 4 {
		s, rest, ok := next(b)
		if !ok {
			return list, fmt.Errorf("%s is broken or cut off after %d structures", Path, len(list))
		}
		list = append(list, s)
		if s.Kind == 127 {
			break
		}
		b = rest
	}
	return list, nil
}

// next cuts one structure off: its header says how long its data are, two zeros end its strings.
func next(b []byte) (s Structure, rest []byte, ok bool) {
	length := int(b[1])
	if length < 4 || length > len(b) {
		return s, nil, false
	}
	end := bytes.Index(b[length:], []byte{0, 0})
	if end < 0 {
		return s, nil, false
	}
	s = Structure{Kind: b[0], Data: b[:length]}
	if end > 0 {
		s.Strings = strings.Split(string(b[length:length+end]), "\x00")
	}
	return s, b[length+end+2:], true
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

// kept is a type of structure that Clean leaves in: where it holds serial numbers and asset tags, and a UUID.
type kept struct {
	texts []int
	uuid  int
}

// kinds are the structures that the probes read.
func kinds() map[byte]kept {
	return map[byte]kept{
		0:   {},                               // firmware
		1:   {texts: []int{0x07}, uuid: 0x08}, // system
		2:   {texts: []int{0x07, 0x08}},       // board
		4:   {texts: []int{0x20, 0x21}},       // processor
		16:  {},                               // memory array
		17:  {texts: []int{0x18, 0x19}},       // memory device
		127: {},                               // end
	}
}

// Clean keeps the structures that the probes read, without serial numbers, asset tags and the machine's UUID.
func Clean(b []byte) []byte {
	list, err := Parse(b)
	if err != nil {
		return nil
	}
	var out []byte
	of := kinds()
	for _, s := range list {
		k, ok := of[s.Kind]
		if !ok {
			continue
		}
		for _, offset := range k.texts {
			s.cut(offset)
		}
		out = append(out, s.without(k.uuid).bytes()...)
	}
	return out
}

// without blanks the 16 bytes of a UUID; its offset is never 0.
func (s Structure) without(uuid int) Structure {
	if uuid > 0 && uuid < len(s.Data) {
		s.Data = bytes.Clone(s.Data)
		clear(s.Data[uuid:min(uuid+16, len(s.Data))])
	}
	return s
}

// cut blanks the string whose number stands at an offset.
func (s Structure) cut(offset int) {
	if s.Text(offset) != "" {
		s.Strings[s.Data[offset]-1] = "cut"
	}
}

func (s Structure) bytes() []byte {
	return append(append([]byte{}, s.Data...), strings.Join(s.Strings, "\x00")+"\x00\x00"...)
}
