package amd

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/pci"
	"assay/probes/sut"
)

// source is one of several places that may tell a number.
type source func() sut.Fact[float64]

// firstOf asks one source after the other until one tells.
func firstOf(sources ...source) sut.Fact[float64] {
	var asked []sut.Fact[float64]
	for _, ask := range sources {
		f := ask()
		if f.IsKnown() {
			return f
		}
		asked = append(asked, f)
	}
	return either(asked...)
}

// either gives the first fact that is known, and every reason when none is.
func either[T any](facts ...sut.Fact[T]) sut.Fact[T] {
	var reasons []string
	for _, f := range facts {
		if f.IsKnown() {
			return f
		}
		if !slices.Contains(reasons, f.Reason()) {
			reasons = append(reasons, f.Reason())
		}
	}
	return sut.Unknown[T]("%s", strings.Join(reasons, "; "))
}

// reported is a sensor of the table, measured a file of a sensor.
func (g gpu) reported(a attribute) source {
	return func() sut.Fact[float64] { return g.table.positive(a) }
}

func (g gpu) measured(name string, parse func(string) (float64, error)) source {
	return func() sut.Fact[float64] { return sut.Convert(g.sensor(name), parse) }
}

// limit is a power limit of the device.
func (g gpu) limit(name string) sut.Fact[float64] { return g.measured(name, pci.Watts)() }

// wattsOrZero takes zero too, which is a real lower bound.
func wattsOrZero(s string) (float64, error) {
	if s == "0" {
		return 0, nil
	}
	return pci.Watts(s)
}

func megahertz(s string) (float64, error) { return scaled(1e6)(s) }

// settable tells whether root could set the cap: not on a virtual function, and not where it has no room.
func settable(a sut.Accelerator) sut.Fact[bool] {
	switch {
	case a.VirtualFunction.Value:
		return sut.Known(false, "a virtual function's cap is its host's")
	case !a.PowerCapW.IsKnown() || !a.PowerMaxW.IsKnown() || !a.PowerMinW.IsKnown():
		return sut.Unknown[bool]("%s", firstReason(a.PowerCapW, a.PowerMaxW, a.PowerMinW))
	}
	return sut.Known(a.PowerMinW.Value < a.PowerMaxW.Value, a.PowerCapW.Source)
}

func firstReason[T any](facts ...sut.Fact[T]) string {
	i := slices.IndexFunc(facts, func(f sut.Fact[T]) bool { return !f.IsKnown() })
	return facts[i].Reason()
}

// powerW is what the device draws now. 0 W is no reading: drivers say it that have none, and the second die of an MI250, whose package
// reports at the first.
func (g gpu) powerW() sut.Fact[float64] {
	f := firstOf(g.reported(attrPower), g.measured("power1_input", pci.Watts), g.measured("power1_average", pci.Watts))
	if !f.IsKnown() && g.product.dies {
		f.Unknown = "the power of a package stands at its first die: " + f.Unknown
	}
	return f
}

// energyJ is what the device used since its driver was loaded, 15.259 µJ for each step of the counter.
func (g gpu) energyJ() sut.Fact[float64] {
	f := g.table.energyJ()
	if !f.IsKnown() && g.product.dies {
		f.Unknown = "the energy of a package stands at its first die: " + f.Unknown
	}
	return f
}

// chipC is the hottest spot, or the edge's where it is the only sensor, as in processors.
func (g gpu) chipC() sut.Fact[float64] {
	return firstOf(g.reported(attrHotspot), g.measured("temp2_input", pci.Celsius), g.reported(attrEdge), g.measured("temp1_input", pci.Celsius))
}

func (g gpu) memC() sut.Fact[float64] {
	return firstOf(g.reported(attrMemTemp), g.measured("temp3_input", pci.Celsius))
}

// temperatures takes the table's, else the sensors', which have fixed places: 1 edge, 2 hotspot, 3 memory.
func (g gpu) temperatures() sut.Temperatures {
	at := func(name string) sut.Fact[float64] { return g.measured(name, pci.Celsius)() }
	return sut.Temperatures{
		EdgeC: firstOf(g.reported(attrEdge), g.measured("temp1_input", pci.Celsius)), EdgeLimitC: at("temp1_crit"),
		HotspotC: firstOf(g.reported(attrHotspot), g.measured("temp2_input", pci.Celsius)), HotspotLimitC: at("temp2_crit"),
		MemC: g.memC(), MemLimitC: at("temp3_crit"),
	}
}

// gfxMHz is the mean of the compute dies, and the slowest of them where there are several.
func (g gpu) gfxMHz() (mean, slowest sut.Fact[float64]) {
	mean, slowest = g.table.gfxMHz()
	return firstOf(func() sut.Fact[float64] { return mean }, g.measured("freq1_input", megahertz)), slowest
}

func (g gpu) memMHz() sut.Fact[float64] {
	return firstOf(g.reported(attrMemClock), g.measured("freq2_input", megahertz))
}

// clocks are those of the table, else of the sensors; the highest are those of the levels that the driver lists.
func (g gpu) clocks() sut.Clocks {
	compute, memory := levels(g.waking("pp_dpm_sclk")), levels(g.waking("pp_dpm_mclk"))
	mean, slowest := g.gfxMHz()
	return sut.Clocks{
		GfxMHz: either(mean, now(compute)), GfxMinMHz: slowest,
		GfxMaxMHz: either(highest(compute), sut.Convert(g.property("max_engine_clk_fcompute"), scaled(1))),
		MemMHz:    either(g.memMHz(), now(memory)), MemMaxMHz: either(highest(memory), g.bankMHz()),
	}
}

// bankMHz is the highest clock of the memory by the compute driver.
func (g gpu) bankMHz() sut.Fact[float64] {
	if g.kfd == nil || g.kfd.nodes[0].memMHz == 0 {
		return sut.Unknown[float64]("the compute driver tells no clock of the memory")
	}
	return sut.Known(float64(g.kfd.nodes[0].memMHz), kfdNodes+"/"+g.kfd.nodes[0].id+"/mem_banks")
}

// level is one line of pp_dpm_sclk and its like.
type level struct {
	mhz float64
	now bool
}

// parseLevels reads lines of "1: 2100Mhz *". There may be a level S of deep sleep, none in force, or nothing at all; they need not rise.
func parseLevels(text string) ([]level, error) {
	var list []level
	for line := range strings.Lines(text) {
		_, rest, ok := strings.Cut(line, ":")
		number := strings.TrimSpace(rest)
		n := host.Digits(number)
		mhz, err := strconv.Atoi(number[:n])
		if !ok || err != nil || !strings.HasPrefix(strings.ToLower(number[n:]), "mhz") || mhz == 0 || mhz > 100_000 {
			continue
		}
		list = append(list, level{float64(mhz), strings.HasSuffix(number, "*")})
	}
	if len(list) == 0 {
		return nil, sut.ErrNoValue
	}
	return list, nil
}

func levels(f sut.Fact[string]) sut.Fact[[]level] { return sut.Convert(f, parseLevels) }

func highest(f sut.Fact[[]level]) sut.Fact[float64] {
	return sut.Convert(f, func(list []level) (float64, error) {
		return slices.MaxFunc(list, func(a, b level) int { return int(a.mhz - b.mhz) }).mhz, nil
	})
}

func now(f sut.Fact[[]level]) sut.Fact[float64] {
	return sut.Convert(f, func(list []level) (float64, error) {
		i := slices.IndexFunc(list, func(l level) bool { return l.now })
		if i < 0 {
			return 0, sut.ErrNoValue
		}
		return list[i].mhz, nil
	})
}

// utilPct is one reading; the sampler has the mean over a time where the device counts.
func (g gpu) utilPct() sut.Fact[float64] {
	return either(sut.Convert(g.waking("gpu_busy_percent"), percent), g.table.share(attrGfxActivity))
}

// scaled reads a whole number that is not negative in parts of a unit: 59000 m°C, 500000000 Hz.
func scaled(parts float64) func(string) (float64, error) {
	return func(s string) (float64, error) {
		v, err := strconv.ParseUint(s, 10, 63)
		if err != nil || v == math.MaxUint32 {
			return 0, sut.ErrNoValue
		}
		return float64(v) / parts, nil
	}
}

func percent(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0 && v <= 100) {
		return 0, sut.ErrNoValue
	}
	return v, nil
}
