package amd

import (
	"context"
	"fmt"

	"assay/probes/host"
	"assay/probes/pci"
	"assay/probes/sut"
)

// Sampler reads the driver's files: its table, and the sensors that the table lacks. No tool is started, and a device that sleeps is left
// asleep.
type Sampler struct {
	host  host.Host
	cards []*sampled
}

// sampled is a device between two samples.
type sampled struct {
	gpu    gpu
	prefix string       // "gpu0."
	last   metricsTable // of the sample before
}

// NewSampler samples the AMD GPUs of a host; false when it has none.
func NewSampler(h host.Host) (*Sampler, bool) {
	cards, _ := pci.Accelerators(h, pci.AMD)
	s, numbers := &Sampler{host: h}, pci.Numbers(h)
	for _, c := range cards {
		if real, err := h.Real(c.Dir); err == nil {
			c.Dir = real // every part of a path costs a call of the kernel at every read
		}
		s.cards = append(s.cards, &sampled{gpu: gpu{h: h, card: c}, prefix: fmt.Sprintf("gpu%d.", numbers[c.Address])})
	}
	return s, len(cards) > 0
}

// Name is "amd".
func (s *Sampler) Name() string { return "amd" }

// Sample gives of each GPU, as far as its driver tells: power_w, energy_j (since the driver was loaded), temp_c (the hottest spot),
// mem_temp_c, clock_mhz (the mean of its dies), clock_min_mhz, mem_clock_mhz, util_pct, mem_util_pct, vram_used_bytes, pcie_gbps,
// pcie_replays_total, and throttle_pct with throttle_<reason>_pct: the share of the time since the sample before.
func (s *Sampler) Sample(context.Context) ([]sut.Sample, error) {
	out := sut.NewBatch()
	for _, c := range s.cards {
		if c.gpu.hwmon == "" {
			c.gpu = c.gpu.look()
		} else {
			c.gpu = c.gpu.observe()
		}
		c.sample(func(series string, f sut.Fact[float64]) { out.AddFact(c.prefix+series, f) })
		c.last = c.gpu.table
	}
	return out.List, nil
}

func (c *sampled) sample(add func(string, sut.Fact[float64])) {
	g := c.gpu
	add("power_w", g.powerW())
	add("energy_j", g.energyJ())
	add("temp_c", g.chipC())
	add("mem_temp_c", g.memC())
	mean, slowest := g.gfxMHz()
	add("clock_mhz", mean)
	add("clock_min_mhz", slowest)
	add("mem_clock_mhz", g.memMHz())
	add("util_pct", c.activity(attrGfxSum, attrGfxActivity, "gpu_busy_percent"))
	add("mem_util_pct", c.activity(attrMemSum, attrMemActivity, "mem_busy_percent"))
	add("vram_used_bytes", asFloat(g.vramUsed()))
	add("pcie_gbps", g.linkGbps())
	add("pcie_replays_total", firstOf(func() sut.Fact[float64] { return g.table.number(attrReplays) }, func() sut.Fact[float64] { return asFloat(g.replays()) }))
	c.throttle(add)
}

func asFloat(f sut.Fact[int64]) sut.Fact[float64] {
	return sut.Convert(f, func(n int64) (float64, error) { return float64(n), nil })
}

// activity is the mean since the sample before where the device sums it up, and otherwise one reading, which may be far off: a device at
// rest has shown 13 %, one at work 0 %.
func (c *sampled) activity(sum, reading attribute, file string) sut.Fact[float64] {
	g := c.gpu
	if _, sums := g.table.fields[sum]; !sums {
		return sut.First(sut.Convert(g.waking(file), percent), g.table.share(reading))
	}
	return sut.Convert(c.perTick(sum), likelyShare)
}

// perTick is how much a sum of the table grew in each of the firmware's cycles since the sample before.
func (c *sampled) perTick(a attribute) sut.Fact[float64] {
	grown, ok := c.growth(a)
	ticks, counted := c.growth(attrTicks)
	if !ok || !counted || ticks == 0 {
		return sut.Unknown[float64]("there is no sample before, or nothing was counted since")
	}
	return sut.Known(float64(grown)/float64(ticks), c.gpu.table.source)
}

// growth is how far a counter came, also when it began anew at its end. One that fell by less than half its range was set back, as a
// driver that is loaded anew does.
func (c *sampled) growth(a attribute) (uint64, bool) {
	before, ok := c.last.fields[a]
	now, still := c.gpu.table.fields[a]
	if !ok || !still || before.bits != now.bits {
		return 0, false
	}
	if from, to := before.values[0], now.values[0]; to < from && from-to < 1<<(now.bits-1) {
		return 0, false
	}
	return (now.values[0] - before.values[0]) << (64 - now.bits) >> (64 - now.bits), true
}

// throttle gives the share of the time that each counter of the table counted, else what is said of this moment.
func (c *sampled) throttle(add func(string, sut.Fact[float64])) {
	var most sut.Fact[float64]
	put := func(reason string, share sut.Fact[float64]) {
		if share = sut.Convert(share, likelyShare); !share.IsKnown() {
			return
		}
		add("throttle_"+reason+"_pct", share)
		if !most.IsKnown() || share.Value > most.Value {
			most = share
		}
	}
	for _, r := range throttleReasons() {
		put(r.name, sut.Convert(c.perTick(r.attr), func(v float64) (float64, error) { return 100 * v, nil }))
	}
	if bits, ok := c.gpu.table.fields[attrThrottle]; ok {
		for _, group := range throttleGroups() {
			share := 0.0
			if bits.values[0]&group.mask != 0 {
				share = 100
			}
			put(group.name, sut.Known(share, c.gpu.table.source))
		}
	}
	add("throttle_pct", most)
}

// likelyShare refuses what is no share; the counters are read one after the other, so that one may be a cycle ahead.
func likelyShare(v float64) (float64, error) {
	if v > 101 {
		return 0, sut.ErrNoValue
	}
	return min(v, 100), nil
}

// linkGbps is the traffic over PCIe in both directions. The table gives it in GB/s; what the link could not carry is no reading.
func (g gpu) linkGbps() sut.Fact[float64] {
	width, rate := g.table.linkWidth(), g.table.positive(attrLinkSpeed)
	return sut.Convert(g.table.number(attrLinkRate), func(v float64) (float64, error) {
		if gbps := 8 * v; width.IsKnown() && rate.IsKnown() && gbps <= 2*float64(width.Value)*rate.Value {
			return gbps, nil
		}
		return 0, sut.ErrNoValue
	})
}
