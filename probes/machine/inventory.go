package machine

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

// inventory is the DIMMs as one source lists them.
type inventory struct {
	dimms  []sut.DIMM
	slots  int // 0 when the source lists only what is populated
	source string
	err    error
}

// inventories gives the sources in the order in which they are believed: SMBIOS is the firmware's own word, but needs root; systemd's record
// is a copy of it that every user can read; the memory controllers' drivers see only what they know.
func inventories(h host.Host, record udevRecord, recordErr error, table firmware) []inventory {
	udev, smbios := inventory{source: udevDMI, err: recordErr}, inventory{source: dimmSource, err: table.err}
	udev.dimms, udev.slots = record.memorySlots()
	smbios.dimms, smbios.slots = table.memorySlots()
	if udev.slots == 0 && udev.err == nil {
		udev.err = fmt.Errorf("%s has no DIMMs", udevDMI)
	}
	if smbios.slots == 0 && smbios.err == nil {
		smbios.err = errors.New("SMBIOS lists no memory slots")
	}
	return []inventory{smbios, udev, {dimms: edacDIMMs(h), source: edacDir, err: errors.New("no memory controller lists DIMMs")}}
}

// there tells whether a source lists anything.
func (i inventory) there() bool { return i.slots > 0 || len(i.dimms) > 0 }

// bytes is the sum of the DIMMs.
func (i inventory) bytes() sut.Fact[int64] {
	var sum int64
	for _, d := range i.dimms {
		if !d.SizeBytes.IsKnown() {
			return sut.Unknown[int64]("the size of a DIMM is unknown: %s", d.SizeBytes.Unknown)
		}
		sum += d.SizeBytes.Value
	}
	return sut.Known(sum, i.source)
}

func (i inventory) slotFact() sut.Fact[int] {
	if i.slots > 0 {
		return sut.Known(i.slots, i.source)
	}
	return sut.Unknown[int]("%s lists only the slots that hold a DIMM", i.source)
}

// fillDIMMs takes the first source that lists DIMMs, completes it from those after it, and says where they disagree.
func fillDIMMs(m *sut.Memory, all []inventory) {
	first := slices.IndexFunc(all, inventory.there)
	if first < 0 {
		noDIMMs(m, all)
		return
	}
	best := all[first]
	m.InstalledBytes, m.Slots = best.bytes(), best.slotFact()
	for _, other := range all[first+1:] {
		if !other.there() {
			continue
		}
		beside(&m.InstalledBytes, other.bytes())
		beside(&m.Slots, other.slotFact())
		complete(best.dimms, other.dimms)
	}
	m.DIMMs = sut.List[sut.DIMM]{Items: best.dimms}
	if m.DIMMs.Items == nil {
		m.DIMMs.Items = []sut.DIMM{}
	}
	m.Summary = sut.Known(dimmSummary(best.dimms), best.source)
}

// noDIMMs says in every fact what was tried.
func noDIMMs(m *sut.Memory, all []inventory) {
	var reasons []string
	for _, i := range all {
		reasons = append(reasons, i.err.Error())
	}
	why := strings.Join(reasons, "; ")
	m.InstalledBytes, m.Slots, m.Summary = sut.Unknown[int64]("%s", why), sut.Unknown[int]("%s", why), sut.Unknown[string]("%s", why)
	m.DIMMs = sut.List[sut.DIMM]{Unknown: why}
}

// beside takes another source's value where there is none, and shows it where it disagrees.
func beside[T comparable](f *sut.Fact[T], other sut.Fact[T]) {
	switch {
	case !other.IsKnown():
	case !f.IsKnown():
		*f = other
	case f.Value != other.Value && f.Other == "":
		f.Other = fmt.Sprintf("%v by %s, a source that is further from the firmware", other.Value, other.Source)
	}
}

// complete adds what another source knows of the same DIMMs. Those of SMBIOS and of its copy come in one order; a driver has its own,
// so that of it only what all its DIMMs share is taken.
func complete(dimms, other []sut.DIMM) {
	alike := len(other) > 0 && !slices.ContainsFunc(other, func(d sut.DIMM) bool {
		return d.Type.Value != other[0].Type.Value || d.Module.Value != other[0].Module.Value
	})
	for i := range dimms {
		switch d := &dimms[i]; {
		case len(dimms) == len(other) && d.Slot.Value == other[i].Slot.Value:
			d.SizeBytes, d.SpeedMTS, d.ConfiguredMTS = with(d.SizeBytes, other[i].SizeBytes), with(d.SpeedMTS, other[i].SpeedMTS), with(d.ConfiguredMTS, other[i].ConfiguredMTS)
			d.Type, d.Ranks, d.PartNumber = with(d.Type, other[i].Type), with(d.Ranks, other[i].Ranks), with(d.PartNumber, other[i].PartNumber)
			d.Manufacturer, d.Module = with(d.Manufacturer, other[i].Manufacturer), exact(d.Module, other[i].Module)
		case alike:
			d.Type, d.Module = with(d.Type, other[0].Type), exact(d.Module, other[0].Module)
		}
	}
}

func with[T comparable](f, other sut.Fact[T]) sut.Fact[T] {
	beside(&f, other)
	return f
}

// exact prefers "RDIMM" to "DIMM", which firmware gives that tells only the form.
func exact(f, other sut.Fact[string]) sut.Fact[string] {
	if f.Value == "DIMM" && strings.HasSuffix(other.Value, "DIMM") {
		return other
	}
	if other.Value == "DIMM" {
		return f
	}
	return with(f, other)
}

// dimmSummary writes "32 × 64 GiB DDR5-4800 RDIMM".
func dimmSummary(dimms []sut.DIMM) string {
	if len(dimms) == 0 {
		return "no DIMMs"
	}
	var kinds []string
	count := map[string]int{}
	for _, d := range dimms {
		kind := dimmKind(d)
		if count[kind]++; count[kind] == 1 {
			kinds = append(kinds, kind)
		}
	}
	for i, k := range kinds {
		kinds[i] = fmt.Sprintf("%d × %s", count[k], k)
	}
	return strings.Join(kinds, " + ")
}

// dimmKind writes what is known of "64 GiB DDR5-4800 RDIMM".
func dimmKind(d sut.DIMM) string {
	kind := "memory of unknown type"
	if d.Type.IsKnown() {
		kind = d.Type.Value
	}
	if mts, ok := sut.First(d.ConfiguredMTS, d.SpeedMTS).Get(); ok {
		kind += fmt.Sprintf("-%d", mts)
	}
	if m := d.Module.Value; m != "" && m != "DIMM" {
		kind += " " + m
	}
	if d.SizeBytes.IsKnown() {
		kind = host.SizeText(d.SizeBytes.Value) + " " + kind
	}
	return kind
}
