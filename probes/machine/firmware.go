package machine

import (
	"fmt"
	"strings"

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

// of gives the structures of one type.
func (t firmware) of(kind byte) []smbios.Structure {
	var list []smbios.Structure
	for _, s := range t.structures {
		if s.Kind == kind {
			list = append(list, s)
		}
	}
	return list
}

// text gives the first text that a structure of a type has at an offset.
func (t firmware) text(kind byte, offset int, what string) sut.Fact[string] {
	for _, s := range t.of(kind) {
		if f := smbiosText(s, offset, what); f.IsKnown() {
			return f
		}
	}
	if t.err != nil {
		return sut.Unknown[string]("%s", t.err)
	}
	return sut.Unknown[string]("SMBIOS type %d has no %s", kind, what)
}

func smbiosText(s smbios.Structure, offset int, what string) sut.Fact[string] {
	if text, err := boardText(s.Text(offset)); err == nil {
		return sut.Known(text, fmt.Sprintf("SMBIOS type %d", s.Kind))
	}
	return sut.Unknown[string]("SMBIOS type %d has no %s", s.Kind, what)
}

const processorSource = "SMBIOS type 4"

// processors gives the sockets for central processors; math and graphics processors have structures of that type too.
func (t firmware) processors() []smbios.Structure {
	var list []smbios.Structure
	for _, s := range t.of(4) {
		if s.Number(0x05, 1) == 3 {
			list = append(list, s)
		}
	}
	return list
}

// sockets counts the sockets of the board, those that hold a processor, and names the processors.
func (t firmware) sockets(list []smbios.Structure) (all, populated sut.Fact[int], model sut.Fact[string]) {
	if len(list) == 0 {
		why := "SMBIOS lists no processor"
		if t.err != nil {
			why = t.err.Error()
		}
		return sut.Unknown[int]("%s", why), sut.Unknown[int]("%s", why), sut.Unknown[string]("%s", why)
	}
	var names []string
	n := 0
	for _, s := range list {
		if s.Number(0x18, 1)&0x40 == 0 {
			continue
		}
		n++
		if name := smbiosText(s, 0x10, "version"); name.IsKnown() {
			names = append(names, strings.Join(strings.Fields(name.Value), " "))
		}
	}
	model = sut.Unknown[string]("%s does not name the processor", processorSource)
	if len(names) > 0 {
		model = sut.Known(host.Tally(names), processorSource)
	}
	return sut.Known(len(list), processorSource), sut.Known(n, processorSource), model
}
