package amd

import (
	"fmt"
	"math"
	"reflect"
	"strconv"

	"assay/probes/pci"
	"assay/probes/sut"
)

// link takes the slot's rate from the firmware where it is below that of the card's own switch.
func (g gpu) link() sut.Link {
	if g.asleep != "" {
		var l sut.Link
		sut.GiveReason(reflect.ValueOf(&l).Elem(), g.asleep)
		return l
	}
	l := pci.LinkOf(g.h, g.place())
	gts := g.table.positive(attrLinkSpeed)
	if gts.IsKnown() && l.GTS.IsKnown() && gts.Value < l.GTS.Value {
		gts.Other = fmt.Sprintf("%s says %g: the link inside the card", l.GTS.Source, l.GTS.Value)
		l.GTS = gts
	}
	l.GTS, l.Width = either(l.GTS, gts), either(l.Width, g.table.linkWidth())
	return l
}

// linkErrors takes the firmware's counters, else the driver's, and the bus's own.
func (g gpu) linkErrors() sut.LinkErrors {
	e, bus := g.table.linkErrors(), pci.ErrorsOf(g.h, g.place())
	e.AERCorrectable, e.AERNonfatal, e.AERFatal = bus.AERCorrectable, bus.AERNonfatal, bus.AERFatal
	e.Replays = either(e.Replays, g.replays())
	return e
}

func (g gpu) replays() sut.Fact[int64] {
	return sut.Convert(g.waking("pcie_replay_count"), func(s string) (int64, error) {
		n, err := strconv.ParseUint(s, 10, 63)
		if n == math.MaxUint32 {
			return 0, sut.ErrNoValue
		}
		return int64(n), err
	})
}
