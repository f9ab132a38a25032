package plot

import (
	"math"
	"unicode/utf8"
)

// labels finds a free place beside each point for its name, and leaves a name out where there is none: the hover text has it.
type labels struct {
	frame frame
	dots  []spot
	taken []box
}

// spot is a drawn point and the series it belongs to.
type spot struct {
	x, y float64
	d    Datum
	of   int
}

type box struct{ x0, y0, x1, y1 float64 }

func (b box) hits(o box) bool { return b.x0 < o.x1 && o.x0 < b.x1 && b.y0 < o.y1 && o.y0 < b.y1 }

// place names the points of a single line, or the ends of several.
func (l *labels) place(p *Plot, c Chart) {
	for _, s := range l.dots {
		l.taken = append(l.taken, box{s.x - 4.5, s.y - 4.5, s.x + 4.5, s.y + 4.5})
	}
	for _, s := range l.wanted(c) {
		l.put(p, s)
	}
}

// wanted are the names to place; the best point comes first so that it always has room.
func (l *labels) wanted(c Chart) []spot {
	var best, rest []spot
	for i, s := range l.dots {
		if len(c.Series) > 1 {
			if last := i+1 == len(l.dots) || l.dots[i+1].of != s.of; !last {
				continue
			}
			s.d.Name = c.Series[s.of].Name
		}
		if s.d.Best {
			best = append(best, s)
			continue
		}
		rest = append(rest, s)
	}
	return append(best, rest...)
}

// put tries the places around a point in order of taste.
func (l *labels) put(p *Plot, s spot) {
	w := 7.2 * float64(utf8.RuneCountInString(s.d.Name))
	tries := []struct {
		dx, dy float64
		anchor string
	}{{7, -6, "start"}, {0, -9, "middle"}, {9, 4, "start"}, {-7, -6, "end"}, {7, 14, "start"}, {0, 18, "middle"}, {-9, 4, "end"}, {-7, 14, "end"}}
	for _, t := range tries {
		b := textBox(s.x+t.dx, s.y+t.dy, w, t.anchor)
		if !l.free(b) {
			continue
		}
		class := "name"
		if s.d.Best {
			class = "name best"
		}
		l.taken = append(l.taken, b)
		p.Names = append(p.Names, name{px(s.x + t.dx), px(s.y + t.dy), t.anchor, class, s.d.Name})
		return
	}
}

func textBox(x, y, w float64, anchor string) box {
	switch anchor {
	case "middle":
		x -= w / 2
	case "end":
		x -= w
	}
	return box{x, y - 10, x + w, y + 2}
}

// free tells whether a text may stand there: inside the frame, on no other text or point, on no line.
func (l *labels) free(b box) bool {
	f := l.frame
	if b.x0 < f.left+1 || b.x1 > f.w-1 || b.y0 < f.top-12 || b.y1 > f.h-f.bottom-1 {
		return false
	}
	for _, t := range l.taken {
		if b.hits(t) {
			return false
		}
	}
	for i := 1; i < len(l.dots); i++ {
		if l.dots[i].of == l.dots[i-1].of && crosses(b, l.dots[i-1], l.dots[i]) {
			return false
		}
	}
	return true
}

// crosses tells whether the segment runs through the box, by walking it in steps smaller than a text is high.
func crosses(b box, from, to spot) bool {
	steps := math.Max(1, math.Ceil(math.Hypot(to.x-from.x, to.y-from.y)/4))
	for i := 0.0; i <= steps; i++ {
		x, y := from.x+(to.x-from.x)*i/steps, from.y+(to.y-from.y)*i/steps
		if x > b.x0 && x < b.x1 && y > b.y0 && y < b.y1 {
			return true
		}
	}
	return false
}
