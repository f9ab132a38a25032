package point

import (
	"assay/report/figure"
	"assay/result"
)

// WarmedUp says what was sent before a point's window; "" when nothing was.
func WarmedUp(p result.Point) string {
	w := p.Warmup
	if w == nil {
		return ""
	}
	out := figure.Plural(w.Requests, "request") + ", " + figure.Tenth(w.DurationS) + " s"
	if w.Steps > 0 {
		out += ", " + figure.Plural(w.Steps, "step")
	}
	switch {
	case w.Stable == nil:
		return out
	case *w.Stable:
		return out + ", stable"
	}
	return out + ", not stable"
}
