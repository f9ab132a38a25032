package report

import (
	"maps"
	"slices"
	"strings"

	"assay/report/figure"
	"assay/report/plot"
	"assay/report/point"
	"assay/result"
)

// windows are the points' measuring windows, for the telemetry plots.
func (v view) windows() []plot.Window {
	var out []plot.Window
	for _, p := range v.res.Points {
		if p.Window != nil {
			out = append(out, plot.Window{Name: point.Label(p), FromUS: p.Window.StartedUS, ToUS: p.Window.EndedUS})
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
	all := point.Series(p, key)
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
	all := point.Series(p, key)
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
	if j := point.Energy(p, key); j != nil {
		return cell{Text: figure.Measure(*j / 1000)}
	}
	return cell{Text: figure.None}
}
