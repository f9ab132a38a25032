package machine

import (
	"fmt"
	"regexp"
	"slices"

	"assay/probes/host"
	"assay/probes/sut"
)

const powercap = "/sys/class/powercap"

// unlimitedW is near the largest value that the register of a limit holds; firmware that sets no limit leaves it there.
const unlimitedW = 4000

// readPowercap reads the thermal design power of a processor and the long-term limit in force, as Intel's interface gives them.
func readPowercap(h host.Host) (tdp, limit sut.Fact[float64]) {
	packages := cpuPackages(h)
	if len(packages) == 0 {
		why := powercap + " has no processor with a limit: only Intel's tell theirs"
		if _, err := h.List(powercap); err != nil {
			why = err.Error()
		}
		return sut.Unknown[float64]("%s", why), sut.Unknown[float64]("%s", why)
	}
	tdp = packageWatts(h, packages, "max_power_uw")
	if tdp.IsKnown() && tdp.Value == 0 {
		tdp = sut.Unknown[float64]("%s reads 0", tdp.Source)
	}
	limit = packageWatts(h, packages, "power_limit_uw")
	if limit.IsKnown() && limit.Value >= unlimitedW {
		limit = sut.NA[float64](fmt.Sprintf("no limit is set (%s reads %g W)", limit.Source, limit.Value))
	}
	return tdp, limit
}

// cpuPackages gives the zones of whole processors, each with its long-term constraint. A processor of several dies has a zone for each; their
// sum is not its TDP.
func cpuPackages(h host.Host) []string {
	whole := regexp.MustCompile(`^package-\d+$`)
	var found []string
	for _, zone := range h.Match(powercap, "intel-rapl:*") {
		if !whole.MatchString(text(h, zone+"/name")) {
			continue
		}
		for _, n := range []string{"0", "1", "2"} {
			if constraint := zone + "/constraint_" + n + "_"; text(h, constraint+"name") == "long_term" {
				found = append(found, constraint)
				break
			}
		}
	}
	return found
}

// packageWatts reads a number of µW that all processors must share.
func packageWatts(h host.Host, packages []string, file string) sut.Fact[float64] {
	var watts []float64
	for _, constraint := range packages {
		uw := host.IntFact[int64](h, constraint+file)
		if !uw.IsKnown() || uw.Value < 0 {
			return sut.Unknown[float64]("%s", uw.Reason())
		}
		watts = append(watts, float64(uw.Value)/1e6)
	}
	if least, most := slices.Min(watts), slices.Max(watts); least != most {
		return sut.Unknown[float64]("the processors differ: %g to %g W", least, most)
	}
	return sut.Known(watts[0], packages[0]+file)
}
