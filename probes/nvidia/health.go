package nvidia

import (
	"fmt"
	"strings"

	"assay/probes/sut"
)

// throttle names the active reasons that hold the clocks down; being idle is none.
func (g gpu) throttle() sut.List[string] {
	reasons := g.kid("clocks_event_reasons")
	if reasons == nil {
		reasons = g.kid("clocks_throttle_reasons")
	}
	if reasons == nil || len(reasons.kids) == 0 {
		return sut.List[string]{Unknown: "nvidia-smi gives no clock event reasons"}
	}
	list := sut.List[string]{Items: []string{}}
	told := false
	var walk func(*node)
	walk = func(n *node) {
		name := strings.TrimPrefix(strings.TrimPrefix(n.name, "clocks_event_reason_"), "clocks_throttle_reason_")
		told = told || n.text == "Active" || n.text == "Not Active"
		if n.text == "Active" && name != "gpu_idle" && name != "idle" {
			list.Items = append(list.Items, name)
		}
		for _, k := range n.kids {
			walk(k)
		}
	}
	walk(reasons)
	if !told {
		return sut.List[string]{Unknown: fmt.Sprintf("nvidia-smi says %q for its clock event reasons", reasons.kids[0].text)}
	}
	return list
}

// throttleCounters are µs since the driver was loaded, as far as it counts them.
func (g gpu) throttleCounters() sut.List[sut.ThrottleCounter] {
	list := sut.List[sut.ThrottleCounter]{Items: []sut.ThrottleCounter{}}
	const group = "clocks_event_reasons_counters/"
	for _, r := range heldBack() {
		ticks := sut.Convert(g.get(group+"clocks_event_reasons_counters_"+r.xml, group+r.text), count)
		if ticks.IsKnown() {
			list.Items = append(list.Items, sut.ThrottleCounter{Reason: sut.Known(r.name, ticks.Source), Ticks: ticks, OfTicks: sut.NA[int64]("ticks are µs of time")})
		}
	}
	if len(list.Items) == 0 {
		return sut.List[sut.ThrottleCounter]{Unknown: "nvidia-smi counts no clock events with this driver"}
	}
	return list
}

// ras reads what the device counts of its memories. Volatile counters begin with the driver, aggregate ones with the device.
func (g gpu) ras() sut.RAS {
	return sut.RAS{
		Correctable: g.errors("volatile", "correctable", "corrected", "single_bit"), Uncorrectable: g.errors("volatile", "uncorrectable", "uncorrected", "double_bit"),
		LifeCorrectable: g.errors("aggregate", "correctable", "corrected", "single_bit"), LifeUncorrectable: g.errors("aggregate", "uncorrectable", "uncorrected", "double_bit"),
		BadPages: g.badPages(), PendingPages: g.pendingPages(), RemapFailed: g.remapFailed(), RecoveryAction: g.recovery(),
		FabricUncorrectable: sut.NA[int64]("AMD's fabric"),
	}
}

// errors sums what the device counts of one kind: of SRAM and DRAM apart in the XML and the text, in one number in a query, and by the
// number of bits on old devices.
func (g gpu) errors(since, kind, whole, bits string) sut.Fact[int64] {
	group := "ecc_errors/" + since
	if f := sut.Convert(g.get(group+"/"+whole, group+"/"+bits+"/total"), count); f.IsKnown() {
		return f
	}
	var sum sut.Fact[int64]
	for _, part := range []string{"sram_" + kind, "sram_" + kind + "_parity", "sram_" + kind + "_secded", "sram_" + kind + "_sec_ded", "dram_" + kind} {
		if n := sut.Convert(g.get(group+"/"+part), count); n.IsKnown() {
			sum = sut.Known(sum.Value+n.Value, g.report.source+" "+group)
		}
	}
	if !sum.IsKnown() {
		return sut.Unknown[int64]("%s", g.get(group+"/dram_"+kind).Reason())
	}
	return sum
}

// badPages counts remapped rows, or the pages that devices before them retire.
func (g gpu) badPages() sut.Fact[int] {
	const rows, pages = "remapped_rows/", "retired_pages/"
	remapped := g.sum(g.get(rows+"remapped_row_corr", rows+"correctable_error"), g.get(rows+"remapped_row_unc", rows+"uncorrectable_error"))
	retired := g.sum(g.get(pages+"multiple_single_bit_retirement/retired_count", pages+"single_bit_ecc"), g.get(pages+"double_bit_retirement/retired_count", pages+"double_bit_ecc"))
	return sut.First(remapped, retired)
}

// sum adds two counts of which both are known.
func (g gpu) sum(a, b sut.Fact[string]) sut.Fact[int] {
	x, y := sut.Convert(a, smallCount), sut.Convert(b, smallCount)
	if !x.IsKnown() || !y.IsKnown() {
		return sut.First(sut.Fact[int]{Unknown: x.Unknown, NA: x.NA}, y)
	}
	return sut.Known(x.Value+y.Value, x.Source+" + "+b.Source)
}

// pendingPages tells that rows or pages wait for a reset. The device says that there are some, not how many.
func (g gpu) pendingPages() sut.Fact[int] {
	waiting := sut.First(g.flag("remapped_rows/remapped_row_pending", "remapped_rows/pending"),
		g.flag("retired_pages/pending_retirement", "retired_pages/pending_blacklist", "retired_pages/pending_page_blacklist"))
	if waiting.Value {
		return sut.Fact[int]{Value: 1, Source: waiting.Source, Other: "it says that there are some, not how many"}
	}
	return sut.Convert(waiting, func(bool) (int, error) { return 0, nil })
}

func (g gpu) flag(where ...string) sut.Fact[bool] { return sut.Convert(g.get(where...), yes) }

// remapFailed tells a device that can no longer repair its memory.
func (g gpu) remapFailed() sut.Fact[bool] {
	failed, beyond := g.flag("remapped_rows/remapped_row_failure", "remapped_rows/remapping_failure_occurred"), g.flag("ecc_errors/unrepairable_memory")
	if beyond.Value {
		return beyond
	}
	return sut.First(failed, beyond)
}

// recovery is what the driver asks for; before it had a word for that, it told whether a reset is due.
func (g gpu) recovery() sut.Fact[string] {
	if f := sut.Convert(g.get("gpu_recovery_action"), word); f.IsKnown() {
		return f
	}
	reset, drain := g.flag("gpu_reset_status/reset_required"), g.flag("gpu_reset_status/drain_and_reset_recommended")
	switch {
	case reset.Value:
		return sut.Known("reset", reset.Source)
	case drain.Value:
		return sut.Known("drain and reset", drain.Source)
	case reset.IsKnown():
		return sut.Known("none", reset.Source)
	}
	return g.get("gpu_recovery_action")
}

func (g gpu) clocks() sut.Clocks {
	megahertz := func(where ...string) sut.Fact[float64] { return sut.Convert(g.get(where...), number) }
	return sut.Clocks{
		GfxMHz: megahertz("clocks/graphics_clock", "clocks/graphics"), MemMHz: megahertz("clocks/mem_clock", "clocks/memory"), GfxMinMHz: sut.NA[float64]("the GPU has one clock"),
		GfxMaxMHz: megahertz("max_clocks/graphics_clock", "max_clocks/graphics"), MemMaxMHz: megahertz("max_clocks/mem_clock", "max_clocks/memory"),
		AppGfxMHz: megahertz("applications_clocks/graphics_clock", "applications_clocks/graphics"),
		AppMemMHz: megahertz("applications_clocks/mem_clock", "applications_clocks/memory"),
	}
}

// temperatures are of the chip and its memory. Newer drivers give how far the hottest part is from its limit in place of the limit, and
// that is no fixed distance from the chip's temperature.
func (g gpu) temperatures() sut.Temperatures {
	degrees := func(where ...string) sut.Fact[float64] { return sut.Convert(g.get(where...), celsius) }
	const t, one = "temperature/", "NVIDIA gives one temperature of the chip"
	return sut.Temperatures{
		EdgeC: degrees(t+"gpu_temp", t+"gpu_current_temp"), MemC: degrees(t+"memory_temp", t+"memory_current_temp"), MarginC: sut.Convert(g.get(t+"gpu_temp_tlimit", t+"gpu_t_limit_temp"), margin),
		EdgeLimitC: degrees(t+"gpu_temp_slow_threshold", t+"gpu_slowdown_temp"), MemLimitC: degrees(t+"gpu_temp_max_mem_threshold", t+"memory_max_operating_temp"),
		HotspotC: sut.NA[float64](one), HotspotLimitC: sut.NA[float64](one),
	}
}
