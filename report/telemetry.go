package report

import (
	"maps"
	"slices"
	"strings"

	"assay/report/figure"
	"assay/report/plot"
	"assay/result"
)

// windows are the points' measuring windows, for the telemetry plots.
func (v view) windows() []plot.Window {
	var out []plot.Window
	for _, p := range v.res.Points {
		if p.Window != nil {
			out = append(out, plot.Window{Name: label(p), FromUS: p.Window.StartedUS, ToUS: p.Window.EndedUS})
		}
	}
	return out
}

// telemetryRows are the points' own summaries: mean and maximum over all devices, and energy where the series is power.
func (v view) telemetryRows() []row {
	power := map[string]bool{} // key → whether it has energy
	for _, p := range v.res.Points {
		for name, t := range p.Telemetry {
			key, _ := plot.SeriesKey(name)
			power[key] = power[key] || t.EnergyJ != nil
		}
	}
	var rows []row
	for _, key := range plot.SortKeys(slices.Collect(maps.Keys(power))) {
		if plot.IsCounter(key) {
			rows = append(rows, row{Label: plot.SeriesTitle(key) + ": increase", Cell: func(p result.Point) cell { return increaseCell(p, key) }})
			continue
		}
		rows = append(rows, row{Label: plot.SeriesTitle(key) + ": mean / max", Cell: func(p result.Point) cell { return foldCell(p, key) }})
		if power[key] {
			name, _, _ := strings.Cut(plot.SeriesTitle(key), ",")
			rows = append(rows, row{Label: strings.TrimSuffix(name, " power") + " energy, kJ", Cell: func(p result.Point) cell { return energyCell(p, key) }})
		}
	}
	return rows
}

// foldCell is the mean over devices and the highest value of any.
func foldCell(p result.Point, key string) cell {
	all := seriesOf(p, key)
	if len(all) == 0 {
		return cell{Text: figure.None}
	}
	sum, high := 0.0, all[0].Max
	for _, t := range all {
		sum, high = sum+t.Mean, max(high, t.Max)
	}
	scale := plot.SeriesScale(key)
	return cell{Text: figure.Brief(sum/float64(len(all))*scale) + " / " + figure.Brief(high*scale)}
}

// increaseCell is how far a counter went during the point, over all devices.
func increaseCell(p result.Point, key string) cell {
	all := seriesOf(p, key)
	if len(all) == 0 {
		return cell{Text: figure.None}
	}
	sum := 0.0
	for _, t := range all {
		sum += t.Max - t.Min
	}
	return cell{Text: figure.Brief(sum * plot.SeriesScale(key))}
}

func energyCell(p result.Point, key string) cell {
	if j := energy(p, key); j != nil {
		return cell{Text: figure.Measure(*j / 1000)}
	}
	return cell{Text: figure.None}
}

// energy sums the energy of a power series over its devices; nil when there is none.
func energy(p result.Point, key string) *float64 {
	var sum *float64
	for _, t := range seriesOf(p, key) {
		if t.EnergyJ == nil {
			continue
		}
		if sum == nil {
			sum = new(float64)
		}
		*sum += *t.EnergyJ
	}
	return sum
}

// seriesOf gives the summaries of all devices' series of a key, in the order of their names, so that sums are the same each time.
func seriesOf(p result.Point, key string) []result.Telemetry {
	var names []string
	for name := range p.Telemetry {
		if k, _ := plot.SeriesKey(name); k == key {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var out []result.Telemetry
	for _, name := range names {
		out = append(out, p.Telemetry[name])
	}
	return out
}
