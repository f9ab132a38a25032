package report

import (
	"fmt"
	"strings"

	"assay/report/figure"
	"assay/report/plot"
	"assay/report/point"
	"assay/result"
)

// charts are the curve plots of the run's protocol.
func (v view) charts() []plot.Chart {
	switch v.protocol {
	case "serve":
		if point.OpenLoop(v.plan).Arrival == "trace" {
			return v.curve("speed", "Speed of the trace", func(p result.Point) *float64 { return p.Speed })
		}
		return v.curve("rate", "Rate, requests/s", func(p result.Point) *float64 { return p.Rate })
	case "matrix":
		return v.matrixCharts()
	default:
		return v.curve("concurrency", "Concurrency", func(p result.Point) *float64 { return intValue(p.Concurrency) })
	}
}

// quantity is something a chart can have on an axis.
type quantity struct {
	Name string // on the axis
	Of   func(result.Point) *float64
}

func tpsQuantity() quantity {
	return quantity{"System tokens/s", func(p result.Point) *float64 {
		v, ok := point.SystemTPS(p)
		if !ok {
			return nil
		}
		return &v
	}}
}

func userQuantity() quantity { return quantity{"Tokens/s per user", point.PerUser} }

func ttftQuantity() quantity {
	return quantity{"TTFT P90, ms", func(p result.Point) *float64 {
		s := point.Streams(p)
		if s == nil {
			return nil
		}
		return point.StatisticOf(s.TTFTMS, point.P90())
	}}
}

// curve gives the four plots of a published page; knob is what the protocol turns.
func (v view) curve(knob, name string, setting func(result.Point) *float64) []plot.Chart {
	x := quantity{name, setting}
	return []plot.Chart{
		v.chartOf("System TPS vs tokens/s per user", userQuantity(), tpsQuantity(), v.res.Points),
		v.chartOf("System TPS vs "+knob, x, tpsQuantity(), v.res.Points),
		v.chartOf("TTFT P90 vs "+knob, x, ttftQuantity(), v.res.Points),
		v.chartOf("Tokens/s per user vs "+knob, x, userQuantity(), v.res.Points),
	}
}

func (v view) chartOf(title string, x, y quantity, points []result.Point) plot.Chart {
	c := plot.Chart{Title: title, XName: x.Name, YName: y.Name}
	data, missing := v.data(x, y, points)
	c.Missing = missing
	c.Series = []plot.Line{{Data: data}}
	return c
}

// data gives the points that have both values, and the names of those that do not.
func (v view) data(x, y quantity, points []result.Point) (out []plot.Datum, missing []string) {
	best, _ := v.bestOf()
	for _, p := range points {
		xv, yv := x.Of(p), y.Of(p)
		if xv == nil || yv == nil {
			missing = append(missing, point.Label(p))
			continue
		}
		hover := fmt.Sprintf("%s: %s %s, %s %s", point.Label(p), strings.ToLower(x.Name[:1])+x.Name[1:], exact(*xv), y.Name, figure.Measure(*yv))
		if p.State != result.PointValid {
			hover += " (" + point.StateText(string(p.State)) + ")"
		}
		out = append(out, plot.Datum{X: *xv, Y: *yv, Name: point.Label(p), Hover: hover, Best: p.ID == best.ID, Off: p.State != result.PointValid})
	}
	return out, missing
}

// exact writes a setting whole and a measured value as such.
func exact(v float64) string {
	if v == float64(int64(v)) {
		return figure.Whole(v)
	}
	return figure.Measure(v)
}

// matrixCharts: prefill speed and first token over the context, decode speed over concurrency with a line per context.
func (v view) matrixCharts() []plot.Chart {
	context := quantity{"Context, tokens", func(p result.Point) *float64 { return intValue(p.Context) }}
	prompt := quantity{"Prompt tokens/s", func(p result.Point) *float64 {
		if p.Metrics == nil {
			return nil
		}
		return p.Metrics.PromptTPS
	}}
	prefill := v.phase("prefill")
	out := []plot.Chart{
		v.byContext("Decode: system TPS vs concurrency", tpsQuantity()),
		v.byContext("Decode: tokens/s per user vs concurrency", userQuantity()),
	}
	if len(prefill) > 0 {
		out = append(out, v.chartOf("Prefill speed vs context", context, prompt, prefill),
			v.chartOf("Prefill: TTFT P90 vs context", context, ttftQuantity(), prefill))
	}
	for i := range out {
		for j := range out[i].Series {
			renameByContext(out[i].Series[j].Data)
		}
	}
	return out
}

// renameByContext shortens the labels of prefill points: the plot's title says prefill already.
func renameByContext(data []plot.Datum) {
	for i := range data {
		data[i].Name = strings.TrimPrefix(data[i].Name, "prefill ")
	}
}

func (v view) byContext(title string, y quantity) plot.Chart {
	x := quantity{"Concurrency", func(p result.Point) *float64 { return intValue(p.Concurrency) }}
	c := plot.Chart{Title: title, Note: "a line per context", XName: x.Name, YName: y.Name}
	for _, context := range contexts(v.phase("decode")) {
		var cells []result.Point
		for _, p := range v.phase("decode") {
			if p.Context != nil && *p.Context == context {
				cells = append(cells, p)
			}
		}
		data, missing := v.data(x, y, cells)
		c.Series = append(c.Series, plot.Line{Name: figure.Tokens(context), Data: data})
		c.Missing = append(c.Missing, missing...)
	}
	return c
}
