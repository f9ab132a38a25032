package telemetry

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"assay/plan"
	"assay/probes"
	"assay/result"
)

// doubtPct is how far a counter and the readings of one device may be apart.
const doubtPct = 3

// Used gives a point what the machine used in its window, by its telemetry, and the output it had for that; nil when nothing tells of any.
func Used(p result.Point, accelerators probes.List[probes.Accelerator]) *result.Energy {
	e := result.Energy{CPUJ: sumOf(p.Telemetry, packages(p.Telemetry)), WallJ: p.Telemetry["host.wall_w"].EnergyJ}
	var gpus []string
	for i, a := range accelerators.Items {
		if (probes.SUT{Accelerators: accelerators}).Aside(a) {
			continue // a part of the processor beside cards, of which mostly nothing tells its power
		}
		e.Accelerators++
		if a.PowerW.NA == "" { // else another device reports for it, such as the first die of a package
			gpus = append(gpus, fmt.Sprintf("gpu%d.power_w", i))
		}
	}
	if e.AcceleratorJ = sumOf(p.Telemetry, gpus); e.AcceleratorJ != nil {
		e.Method, e.Coverage = made(p.Telemetry, gpus)
	}
	if len(gpus) == 0 && e.CPUJ == nil && e.WallJ == nil {
		return nil
	}
	if e.Unknown = noRate(p, accelerators, gpus); e.Unknown == "" {
		rate := *p.Metrics.SystemTPS * p.Window.DurationS / *e.AcceleratorJ
		e.TokensPerJoule = &rate
	}
	return &e
}

// noRate is why a point has no tokens per joule; "" when it has.
func noRate(p result.Point, accelerators probes.List[probes.Accelerator], gpus []string) string {
	switch {
	case accelerators.Unknown != "":
		return "the accelerators are not known: " + accelerators.Unknown
	case len(gpus) == 0:
		return "the machine has no accelerators"
	}
	for _, name := range gpus {
		t, sampled := p.Telemetry[name]
		switch {
		case !sampled:
			return name + " was not sampled"
		case t.EnergyJ == nil:
			return name + ": " + t.EnergyUnknown
		}
	}
	switch {
	case p.State != result.PointValid:
		return "the point is " + strings.ReplaceAll(string(p.State), "_", " ")
	case p.Phase == plan.PhasePrefill:
		return "a prefill point measures no output"
	case p.Metrics == nil || p.Metrics.SystemTPS == nil:
		return "the output is not known"
	}
	return ""
}

// packages are the series of power of the processors.
func packages(all map[string]result.Telemetry) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if strings.HasPrefix(name, "cpu") && strings.HasSuffix(name, ".power_w") {
			names = append(names, name)
		}
	}
	return names
}

// sumOf adds up the energy of series; nil when there are none, or when one is not known.
func sumOf(all map[string]result.Telemetry, names []string) *float64 {
	var sum float64
	for _, name := range names {
		j := all[name].EnergyJ
		if j == nil {
			return nil
		}
		sum += *j
	}
	if len(names) == 0 {
		return nil
	}
	return &sum
}

// made is how the energy of series was found, and the lowest share of the window that was known of any.
func made(all map[string]result.Telemetry, names []string) (method string, coverage float64) {
	var methods []string
	coverage = 1
	for _, name := range names {
		methods = append(methods, all[name].Method)
		coverage = min(coverage, all[name].Coverage)
	}
	slices.Sort(methods)
	return strings.Join(slices.Compact(methods), ", "), coverage
}

// Doubts names the devices whose counter and readings of power do not agree.
func Doubts(all map[string]result.Telemetry) []string {
	var doubts []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if off := all[name].OffPct; off != nil && math.Abs(*off) > doubtPct {
			doubts = append(doubts, fmt.Sprintf("%s: the energy by its readings is %+.1f %% off the one by its counter, which was taken", name, *off))
		}
	}
	return doubts
}
