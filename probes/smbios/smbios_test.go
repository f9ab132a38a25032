package smbios

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// build writes structures as firmware does.
func build(list ...Structure) []byte {
	var b []byte
	for _, s := range list {
		s.Data = append([]byte{s.Kind, byte(len(s.Data) + 4), 0, 0}, s.Data...)
		b = append(b, s.bytes()...)
	}
	return b
}

func TestClean(t *testing.T) {
	uuid := bytes.Repeat([]byte{0xab}, 16)
	system := append([]byte{1, 2, 0, 3}, uuid...)
	processor := make([]byte, 0x23-4)
	processor[0x10-4], processor[0x20-4], processor[0x21-4] = 1, 2, 3
	table := build(
		Structure{Kind: 1, Data: system, Strings: []string{"Maker", "Product", "SERIAL1"}},
		Structure{Kind: 2, Data: []byte{1, 2, 0, 3, 4}, Strings: []string{"Maker", "Board", "SERIAL2", "ASSET2"}},
		Structure{Kind: 3, Data: []byte{1, 17, 0, 2}, Strings: []string{"Maker", "SERIAL3"}},
		Structure{Kind: 4, Data: processor, Strings: []string{"Xeon", "SERIAL4", "ASSET4"}},
		Structure{Kind: 11, Data: []byte{1}, Strings: []string{"SERVICETAG"}},
		Structure{Kind: 127},
	)
	before := bytes.Clone(table)
	clean := Clean(table)
	if !bytes.Equal(before, table) {
		t.Error("the table itself was changed")
	}
	for _, secret := range []string{"SERIAL", "ASSET", "SERVICETAG", string(uuid)} {
		if strings.Contains(string(clean), secret) {
			t.Errorf("the clean table holds %q", secret)
		}
	}
	list, err := Parse(clean)
	if err != nil || len(list) != 4 || list[0].Text(0x05) != "Product" || list[2].Text(0x10) != "Xeon" {
		t.Errorf("%+v, %v", list, err)
	}
	if again := Clean(clean); !bytes.Equal(again, clean) {
		t.Error("cleaning twice changes it")
	}
}

// FuzzParse: whatever firmware holds, no structure leads out of the table, and cleaning twice changes nothing.
func FuzzParse(f *testing.F) {
	f.Add(build(Structure{Kind: 17, Data: []byte{1, 2, 3}, Strings: []string{"a", "b"}}, Structure{Kind: 127}))
	if b, err := os.ReadFile("../../../shared/fixtures/system/smbios/Dell-PowerEdge-R630-Dual-Xeon.dmi"); err == nil {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		list, _ := Parse(b)
		for _, s := range list {
			if len(s.Data) < 4 || len(s.Data) > len(b) {
				t.Errorf("a structure of %d bytes in a table of %d", len(s.Data), len(b))
			}
			for offset := range 0x60 {
				s.Text(offset)
				s.Number(offset, 4)
			}
		}
		clean := Clean(b)
		if again := Clean(clean); !bytes.Equal(again, clean) {
			t.Errorf("%q becomes %q", clean, again)
		}
	})
}
