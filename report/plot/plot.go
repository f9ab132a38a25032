package plot

import (
	"fmt"
	"math"
	"strings"

	"assay/report/figure"
)

// Plot is a drawn chart: what the SVG template writes. Coordinates are viewBox units as text, one decimal.
type Plot struct {
	Title, Note, Label string
	Width, Height      int
	N                  int // drawn points, for data-n
	Left, Right        string
	Top, Bottom, Depth string // Depth: from Top to Bottom
	SpanY              string // where the names of Spans stand
	TickX, TickY       string // where tick texts stand
	NameX, NameY       string // where axis names stand
	XName, YName       string
	X, Y               []tick
	Spans              []region
	Areas, Lines       []path
	Marks              []mark
	Names              []name
	Legend             string
}

type tick struct{ At, Text string }

// region is a shaded part of the x axis: a point's window in a telemetry plot.
type region struct{ X, Width, Mid, Text, Title string }

type path struct{ Class, Points string }

// mark is a drawn point.
type mark struct{ X, Y, R, Class, Title string }

// name is a text beside a point or a line.
type name struct{ X, Y, Anchor, Class, Text string }

// frame is the drawing area inside the viewBox.
type frame struct{ w, h, left, right, top, bottom float64 }

func chartFrame() frame { return frame{w: 440, h: 290, left: 50, right: 14, top: 26, bottom: 44} }
func smallFrame() frame { return frame{w: 360, h: 160, left: 44, right: 8, top: 18, bottom: 24} }

func (f frame) x(t float64) float64 { return f.left + t*(f.w-f.left-f.right) }
func (f frame) y(t float64) float64 { return f.h - f.bottom - t*(f.h-f.top-f.bottom) }

func px(v float64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0")
}

// blank is a plot with axes and nothing in it.
func (f frame) blank(x, y axis) Plot {
	p := Plot{
		Width: int(f.w), Height: int(f.h), XName: x.Name, YName: y.Name,
		Left: px(f.left), Right: px(f.w - f.right), Top: px(f.top), Bottom: px(f.h - f.bottom), Depth: px(f.h - f.bottom - f.top), SpanY: px(f.top - 4),
		TickX: px(f.left - 6), TickY: px(f.h - f.bottom + 16), NameX: px(f.w - f.right), NameY: px(f.h - 6),
	}
	for _, t := range x.Ticks {
		p.X = append(p.X, tick{px(f.x(x.at(t))), x.text(t)})
	}
	for _, t := range y.Ticks {
		p.Y = append(p.Y, tick{px(f.y(y.at(t))), y.text(t)})
	}
	return p
}

// Draw lays a chart out.
func (c Chart) Draw() Plot {
	f := chartFrame()
	var xs, ys []float64
	for _, s := range c.Series {
		for _, d := range s.Data {
			xs, ys = append(xs, d.X), append(ys, d.Y)
		}
	}
	x, y := valueAxis(c.XName, xs, 6), zeroAxis(c.YName, top(ys), 6)
	p := f.blank(x, y)
	p.Title, p.Note, p.N = c.Title, c.Note, len(xs)
	p.Label = fmt.Sprintf("%s: %s over %s, %s", c.Title, c.YName, c.XName, figure.Plural(len(xs), "point"))
	l := labels{frame: f}
	for i, s := range c.Series {
		p.series(f, x, y, i, s, &l)
	}
	l.place(&p, c)
	if len(c.Missing) > 0 {
		p.Legend = "No value: " + strings.Join(c.Missing, ", ") + "."
	}
	return p
}

func top(values []float64) float64 {
	hi := 0.0
	for _, v := range values {
		hi = math.Max(hi, v)
	}
	return hi
}

// series adds a line and its points.
func (p *Plot) series(f frame, x, y axis, i int, s Line, l *labels) {
	var points []string
	shade := fmt.Sprintf(" s%d", min(i, 7))
	for _, d := range s.Data {
		cx, cy := f.x(x.at(d.X)), f.y(y.at(d.Y))
		points = append(points, px(cx)+","+px(cy))
		m := mark{X: px(cx), Y: px(cy), R: "3.5", Class: "pt", Title: d.Hover}
		if d.Best {
			m.R, m.Class = "5", "pt best"
		}
		if d.Off {
			m.Class += " off"
		}
		p.Marks = append(p.Marks, m)
		l.dots = append(l.dots, spot{cx, cy, d, i})
	}
	if len(points) > 1 {
		p.Lines = append(p.Lines, path{"line" + shade, strings.Join(points, " ")})
	}
}
