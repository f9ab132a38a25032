package sampled

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/probes"
	"assay/report/figure"
	"assay/report/plot"
	"assay/report/point"
	"assay/result"
)

// Row is one line of the table of what was sampled: a point's value for each column.
type Row struct {
	Label, Title string // Title is a hover text
	Of           func(p result.Point) Cell
}

// Cell is a value and its hover text.
type Cell struct{ Text, Title string }

// Rows are the points' own summaries: mean and maximum over all devices, what counters grew by, and energy where the series is power.
func Rows(points []result.Point) []Row {
	devices := map[string]map[string]bool{} // by key
	energy := false
	for _, p := range points {
		energy = energy || p.Energy != nil
		for name := range p.Telemetry {
			key, device := plot.SeriesKey(name)
			if devices[key] == nil {
				devices[key] = map[string]bool{}
			}
			devices[key][device] = true
		}
	}
	var rows []Row
	for _, key := range plot.SortKeys(slices.Collect(maps.Keys(devices))) {
		if !plot.ToldByHost(key, len(devices[key])) {
			rows = append(rows, seriesRows(key)...)
		}
	}
	if energy {
		rows = append(rows, Row{"Output tokens per joule", "of all accelerators of the machine; what processors and fans use is not in it", perJouleCell})
	}
	return rows
}

// seriesRows are the lines of one quantity over all its devices.
func seriesRows(key string) []Row {
	title := plot.SeriesTitle(key)
	name, _, _ := strings.Cut(title, ",")
	_, quantity, _ := strings.Cut(key, ".")
	switch {
	case quantity == "energy_j": // stands beside the power
		return nil
	case strings.HasPrefix(quantity, "throttle_") && strings.HasSuffix(quantity, "_s"):
		return []Row{{Label: name + ", % of the window: mean / max", Of: func(p result.Point) Cell { return shareCell(p, key) }}}
	case probes.IsCounter(key):
		return []Row{{Label: title + ": increase", Of: func(p result.Point) Cell { return increaseCell(p, key) }}}
	}
	rows := []Row{{Label: title + ": mean / max", Of: func(p result.Point) Cell { return foldCell(p, key) }}}
	if quantity == "power_w" || quantity == "wall_w" {
		rows = append(rows, Row{Label: strings.TrimSuffix(name, " power") + " energy, kJ", Of: func(p result.Point) Cell { return energyCell(p, key) }})
	}
	return rows
}

// foldCell is the mean over devices and the highest value of any.
func foldCell(p result.Point, key string) Cell {
	all := point.Series(p, key)
	if len(all) == 0 {
		return Cell{Text: figure.None}
	}
	sum, high := 0.0, all[0].Max
	for _, t := range all {
		sum, high = sum+t.Mean, max(high, t.Max)
	}
	scale := plot.SeriesScale(key)
	return Cell{Text: figure.Brief(sum/float64(len(all))*scale) + " / " + figure.Brief(high*scale)}
}

// increaseCell is how far a counter went during the point, over all devices; none when it is not known of one.
func increaseCell(p result.Point, key string) Cell {
	all, sum := point.Series(p, key), 0.0
	for _, t := range all {
		if t.Growth == nil {
			return Cell{Text: figure.None}
		}
		sum += *t.Growth
	}
	if len(all) == 0 {
		return Cell{Text: figure.None}
	}
	return Cell{Text: figure.Brief(sum * plot.SeriesScale(key))}
}

// shareCell is the share of the window that a counter of seconds grew by, over all devices.
func shareCell(p result.Point, key string) Cell {
	sum, high, n := 0.0, 0.0, 0
	for _, t := range point.Series(p, key) {
		if t.Growth != nil && p.Window != nil && p.Window.DurationS > 0 {
			share := 100 * *t.Growth / p.Window.DurationS
			sum, high, n = sum+share, max(high, share), n+1
		}
	}
	if n == 0 {
		return Cell{Text: figure.None}
	}
	return Cell{Text: figure.Brief(sum/float64(n)) + " / " + figure.Brief(high)}
}

// energyCell is the energy of all devices; its hover text says how it was found, or why there is none.
func energyCell(p result.Point, key string) Cell {
	var how []string
	for _, t := range point.Series(p, key) {
		if t.EnergyJ == nil {
			how = append(how, t.EnergyUnknown)
			continue
		}
		how = append(how, fmt.Sprintf("by %s, %s %% of the window known", t.Method, figure.Brief(100*t.Coverage)))
	}
	slices.Sort(how)
	c := Cell{Text: figure.None, Title: strings.Join(slices.Compact(how), "; ")}
	if j := point.Energy(p, key); j != nil {
		c.Text = figure.Measure(*j / 1000)
	}
	return c
}

// perJouleCell is the point's output for its energy; its hover text says what is counted, or why there is none.
func perJouleCell(p result.Point) Cell {
	switch {
	case p.Energy == nil:
		return Cell{Text: figure.None}
	case p.Energy.TokensPerJoule == nil:
		return Cell{Text: figure.None, Title: p.Energy.Unknown}
	}
	return Cell{Text: figure.Measure(*p.Energy.TokensPerJoule), Title: fmt.Sprintf("output tokens in the window / energy of all %d accelerators", p.Energy.Accelerators)}
}
