package plot

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"assay/probes"
	"assay/report/figure"
)

// columns is how many columns a telemetry plot has at most: each keeps minimum, mean and maximum of its samples.
const columns = 400

// gauge is one quantity over time, over all devices that have it: "gpu.power_w" for gpu0.power_w … gpu7.power_w.
type gauge struct {
	Key     string
	devices map[string]bool
	bins    [columns]bin
	all     bin
}

// bin is what fell into a column.
type bin struct {
	n             int
	min, max, sum float64
}

func (b *bin) add(v float64) {
	if b.n == 0 {
		b.min, b.max = v, v
	}
	b.min, b.max = min(b.min, v), max(b.max, v)
	b.sum += v
	b.n++
}

func (b bin) mean() float64 { return b.sum / float64(b.n) }

// clock is the time range that telemetry is drawn over, UTC microseconds.
type clock struct{ from, to int64 }

// Window is a named span of time that a panel shades: a point's measuring window.
type Window struct {
	Name         string
	FromUS, ToUS int64 // UTC
}

// clockOf spans the windows with a little room on both sides.
func clockOf(windows []Window) (clock, bool) {
	c := clock{from: math.MaxInt64}
	for _, w := range windows {
		c.from, c.to = min(c.from, w.FromUS), max(c.to, w.ToUS)
	}
	if c.to <= c.from {
		return clock{}, false
	}
	room := max((c.to-c.from)/50, 1)
	return clock{c.from - room, c.to + room}, true
}

// at gives the place of an instant between 0 and 1.
func (c clock) at(us int64) float64 { return float64(us-c.from) / float64(c.to-c.from) }

// gauges reads the samples once and folds them into columns.
func gauges(samples func(func(probes.Sample) bool), c clock) []*gauge {
	found, bySeries := map[string]*gauge{}, map[string]*series{}
	for s := range samples {
		t := c.at(s.AtUS)
		if t < 0 || t >= 1 || math.IsNaN(s.Value) || math.IsInf(s.Value, 0) {
			continue
		}
		one := bySeries[s.Series]
		if one == nil {
			one = &series{gauge: gaugeOf(found, s.Series)}
			bySeries[s.Series] = one
		}
		if v, ok := one.value(s); ok {
			one.gauge.bins[int(t*columns)].add(v)
			one.gauge.all.add(v)
		}
	}
	var out []*gauge
	for _, key := range SortKeys(slices.Collect(maps.Keys(found))) {
		out = append(out, found[key])
	}
	return out
}

// series is one series on its way into its gauge; last is the sample before, for counters.
type series struct {
	gauge *gauge
	last  probes.Sample
}

// value is the sample's own value, or the rate per second since the last one where the series only counts up. A counter that fell has
// begun anew and tells nothing for that step.
func (s *series) value(x probes.Sample) (float64, bool) {
	if !probes.IsCounter(s.gauge.Key) {
		return x.Value, true
	}
	last := s.last
	s.last = x
	dt := float64(x.AtUS-last.AtUS) / 1e6
	if last.AtUS == 0 || dt <= 0 || x.Value < last.Value {
		return 0, false
	}
	return (x.Value - last.Value) / dt, true
}

// gaugeOf finds the gauge of a series, or begins it, and counts the series as a device.
func gaugeOf(found map[string]*gauge, series string) *gauge {
	key, device := SeriesKey(series)
	g := found[key]
	if g == nil {
		g = &gauge{Key: key, devices: map[string]bool{}}
		found[key] = g
	}
	g.devices[device] = true
	return g
}

// SortKeys puts accelerators first, power before all, then the engine and the host, and at last its parts.
func SortKeys(keys []string) []string {
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(seriesRank(a), seriesRank(b)), cmp.Compare(a, b)) })
	return keys
}

func seriesRank(key string) int {
	kinds := []string{"gpu", "engine", "server", "host", "cpu", "dram", "disk", "nic"}
	kind, rest, _ := strings.Cut(key, ".")
	i := slices.Index(kinds, kind)
	if i < 0 {
		i = len(kinds)
	}
	if rest == "power_w" || rest == "wall_w" {
		return 2 * i
	}
	return 2*i + 1
}

// SeriesKey takes the device out of a series name: "gpu3.power_w" → "gpu.power_w", "gpu3"; "nic.eth0.rx" → "nic.rx", "eth0".
func SeriesKey(name string) (key, device string) {
	head, tail, _ := strings.Cut(name, ".")
	if device, quantity, ok := strings.Cut(tail, "."); ok {
		return head + "." + quantity, device
	}
	kind := strings.TrimRight(head, "0123456789")
	if kind == "" {
		return name, head
	}
	return kind + "." + tail, head
}

// SeriesTitle names a series with its unit: "GPU power, W".
func SeriesTitle(key string) string {
	units := []struct{ suffix, unit string }{
		{"_w", "W"}, {"_c", "°C"}, {"_mhz", "MHz"}, {"_pct", "%"}, {"_usage", "%"}, {"_bytes_per_s", "MiB/s"}, {"_bytes", "GiB"}, {"_gbps", "Gb/s"}, {"_gts", "GT/s"},
		{"_j", "J"}, {"_ms", "ms"}, {"_s", "s"},
	}
	kind, rest, _ := strings.Cut(key, ".")
	unit := ""
	for _, u := range units {
		if trimmed, ok := strings.CutSuffix(rest, u.suffix); ok {
			rest, unit = trimmed, ", "+u.unit
			if u.suffix == "_usage" {
				rest += u.suffix
			}
			break
		}
	}
	return figure.Capital(figure.Words(kind)) + " " + strings.ReplaceAll(figure.Words(rest), ".", " ") + unit
}

// SeriesScale turns a stored value into the title's unit.
func SeriesScale(key string) float64 {
	switch {
	case strings.HasSuffix(key, "_bytes"):
		return 1.0 / (1 << 30)
	case strings.HasSuffix(key, "_usage"): // a fraction
		return 100
	case strings.HasSuffix(key, "_bytes_per_s"):
		return 1.0 / (1 << 20)
	}
	return 1
}

// Panels draws a run's samples, one plot per quantity, with the windows shaded. Samples outside the windows' span are left out; there
// is nothing to draw without windows.
func Panels(samples func(func(probes.Sample) bool), windows []Window) []Plot {
	c, ok := clockOf(windows)
	if !ok || samples == nil {
		return nil
	}
	var out []Plot
	for _, g := range gauges(samples, c) {
		if g.tells() {
			out = append(out, g.panel(c, windows))
		}
	}
	return out
}

// tells leaves out what no plot shows anything of: what never happened on the machine, energy beside power, and the one drive or
// interface that is all the host has.
func (g *gauge) tells() bool {
	kind, quantity, _ := strings.Cut(g.Key, ".")
	happened := g.all.max > 0 || kind == "engine"
	return g.all.n > 0 && happened && quantity != "energy_j" && !ToldByHost(g.Key, len(g.devices))
}

// ToldByHost tells a quantity of drives or interfaces that the host's own series tells already, for it has but one of them.
func ToldByHost(key string, devices int) bool {
	kind, quantity, _ := strings.Cut(key, ".")
	return devices == 1 && (kind == "disk" || kind == "nic") && strings.HasSuffix(quantity, "_bytes_per_s")
}

func (g *gauge) panel(c clock, windows []Window) Plot {
	f, scale := smallFrame(), SeriesScale(g.Key)
	y := zeroAxis("", g.all.max*scale, 3)
	p := f.blank(c.axis(), y)
	p.Title = SeriesTitle(g.Key)
	if probes.IsCounter(g.Key) {
		p.Title += " per second"
	}
	p.Note = fmt.Sprintf("mean %s, max %s", figure.Brief(g.all.mean()*scale), figure.Brief(g.all.max*scale))
	if n := len(g.devices); n > 1 {
		p.Note = fmt.Sprintf("%d devices, %s", n, p.Note)
	}
	p.Label = p.Title + " over time, " + p.Note
	p.Spans = spans(f, c, windows)
	for _, run := range g.segments() {
		p.N += len(run)
		p.Areas = append(p.Areas, path{"area", g.outline(f, y, scale, run)})
		p.Lines = append(p.Lines, path{"line thin", g.means(f, y, scale, run)})
	}
	return p
}

// axis counts time from the first point, in the unit that suits the length.
func (c clock) axis() axis {
	length := float64(c.to - c.from)
	unit, name := 1e6, "s"
	if length > 2*3600e6 {
		unit, name = 3600e6, "h"
	} else if length > 180e6 {
		unit, name = 60e6, "min"
	}
	room := length / 52
	a := axis{Unit: name, Lo: -room / unit, Hi: (length - room) / unit}
	step := niceStep(a.Hi / 5)
	for t := 0.0; t <= a.Hi; t += step {
		a.Ticks = append(a.Ticks, t)
	}
	return a
}

// spans shades the windows; a name stands where there is room for it.
func spans(f frame, c clock, windows []Window) []region {
	var out []region
	for _, w := range windows {
		x0, x1 := f.x(c.at(w.FromUS)), f.x(c.at(w.ToUS))
		r := region{X: px(x0), Width: px(max(x1-x0, 0.5)), Mid: px((x0 + x1) / 2), Title: w.Name + ": " + figure.Span(w.ToUS-w.FromUS)}
		if x1-x0 >= 7*float64(len(w.Name)) {
			r.Text = w.Name
		}
		out = append(out, r)
	}
	return out
}

// segments are the runs of columns with samples; a gap far longer than usual breaks the line.
func (g *gauge) segments() [][]int {
	var filled, gaps []int
	for i := range g.bins {
		if g.bins[i].n == 0 {
			continue
		}
		if n := len(filled); n > 0 {
			gaps = append(gaps, i-filled[n-1])
		}
		filled = append(filled, i)
	}
	if len(filled) == 0 {
		return nil
	}
	limit := usualGap(gaps)
	out := [][]int{{filled[0]}}
	for i, gap := range gaps {
		if gap > limit {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], filled[i+1])
	}
	return out
}

func usualGap(gaps []int) int {
	if len(gaps) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(gaps))
	return max(4*sorted[len(sorted)/2], 3)
}

func (g *gauge) means(f frame, y axis, scale float64, run []int) string {
	var points []string
	for _, i := range run {
		points = append(points, binX(f, i)+","+px(f.y(y.at(g.bins[i].mean()*scale))))
	}
	if len(points) == 1 { // a lone column is a dot that round line ends make visible
		points = append(points, points[0])
	}
	return strings.Join(points, " ")
}

// outline goes along the maxima and back along the minima.
func (g *gauge) outline(f frame, y axis, scale float64, run []int) string {
	var points []string
	for _, i := range run {
		points = append(points, binX(f, i)+","+px(f.y(y.at(g.bins[i].max*scale))))
	}
	for _, i := range slices.Backward(run) {
		points = append(points, binX(f, i)+","+px(f.y(y.at(g.bins[i].min*scale))))
	}
	return strings.Join(points, " ")
}

func binX(f frame, i int) string { return px(f.x((float64(i) + 0.5) / columns)) }
