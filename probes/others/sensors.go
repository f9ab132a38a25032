package others

import (
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/pci"
	"assay/probes/sut"
)

// sensors reads limits and temperatures of Intel's drivers. The critical limit, at which the device protects itself, is no cap.
func (d device) sensors(a *sut.Accelerator) {
	a.PowerCapW = sut.First(d.limit("power1_cap"), d.limit("power1_max"))
	a.PowerDefaultW = d.limit("power1_rated_max")
	for _, label := range d.h.Match(pci.Sensors(d.h, d.card.Dir), "temp*_label") {
		name, err := d.h.Text(label)
		if err != nil {
			continue
		}
		now := sut.Convert(host.TextFact(d.h, strings.TrimSuffix(label, "label")+"input"), pci.Celsius)
		switch name {
		case "pkg":
			a.Temperatures.EdgeC = now
		case "vram":
			a.Temperatures.MemC = now
		}
	}
}

// limit is one of the device's limits of power.
func (d device) limit(name string) sut.Fact[float64] {
	return sut.Convert(host.TextFact(d.h, pci.Sensors(d.h, d.card.Dir)+"/"+name), pci.Watts)
}

// clocks reads those of Intel's drivers: xe has them by tile, i915 by card.
func (d device) clocks(a *sut.Accelerator) {
	const tile = "tile0/gt0/freq0/"
	cards := append(d.h.Match(d.file("drm"), "card[0-9]*"), d.file("drm/card*"))
	a.Clocks.GfxMHz = sut.First(d.megahertz(d.file(tile+"act_freq")), d.megahertz(cards[0]+"/gt_act_freq_mhz"))
	a.Clocks.GfxMaxMHz = sut.First(d.megahertz(d.file(tile+"rp0_freq")), d.megahertz(cards[0]+"/gt_RP0_freq_mhz"))
}

func (d device) megahertz(name string) sut.Fact[float64] {
	return sut.Convert(host.TextFact(d.h, name), func(s string) (float64, error) {
		v, err := strconv.ParseUint(s, 10, 16)
		if err != nil || v == 0xffff {
			return 0, sut.ErrNoValue
		}
		return float64(v), nil
	})
}
