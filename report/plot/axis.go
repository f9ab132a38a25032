package plot

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/report/figure"
)

// axis maps values to 0…1 and knows its ticks.
type axis struct {
	Name   string
	Lo, Hi float64
	Ticks  []float64
	Log    bool
	Unit   string // stands after each tick but zero
}

// zeroAxis starts at zero and ends at a round number at or above hi, with about n steps.
func zeroAxis(name string, hi float64, n int) axis {
	if hi <= 0 || math.IsNaN(hi) || math.IsInf(hi, 0) {
		hi = 1
	}
	step := niceStep(hi / float64(n))
	steps := int(math.Ceil(hi/step - 1e-9))
	a := axis{Name: name, Hi: float64(steps) * step}
	for i := range steps + 1 {
		a.Ticks = append(a.Ticks, float64(i)*step)
	}
	return a
}

// niceStep is the smallest of 1, 2, 2.5, 5 times a power of ten that is at least v.
func niceStep(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 2.5, 5} {
		if m*power >= v*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// valueAxis is linear from zero, or logarithmic with powers of two where the values span so much that the low ones would fall together.
func valueAxis(name string, values []float64, n int) axis {
	lo, hi := math.Inf(1), 0.0
	for _, v := range values {
		lo, hi = math.Min(lo, v), math.Max(hi, v)
	}
	if len(values) >= 3 && lo > 0 && hi/lo >= 30 {
		return powerAxis(name+", log scale", lo, hi, 10)
	}
	if len(values) == 1 {
		hi *= 1.5 // a lone point stands inside, not on the edge
	}
	if wholeNumbers(values) {
		n = min(n, max(int(math.Ceil(hi)), 1)) // half a request is no tick
	}
	return zeroAxis(name, hi, n)
}

func wholeNumbers(values []float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return v != math.Trunc(v) })
}

func powerAxis(name string, lo, hi float64, n int) axis {
	a := axis{Name: name, Log: true, Lo: math.Log2(lo), Hi: math.Log2(hi)}
	first, last := math.Ceil(a.Lo-1e-9), math.Floor(a.Hi+1e-9)
	step := math.Max(1, math.Ceil((last-first)/float64(n)))
	for e := first; e <= last; e += step {
		a.Ticks = append(a.Ticks, math.Exp2(e))
	}
	margin := (a.Hi - a.Lo) * 0.04
	a.Lo, a.Hi = a.Lo-margin, a.Hi+margin
	return a
}

// at gives the place of v between 0 and 1.
func (a axis) at(v float64) float64 {
	if a.Log {
		v = math.Log2(v)
	}
	if a.Hi == a.Lo {
		return 0.5
	}
	return (v - a.Lo) / (a.Hi - a.Lo)
}

// text writes a tick: the same decimals on a whole axis, thousands and millions short.
func (a axis) text(v float64) string {
	if a.Unit != "" && v == 0 {
		return "0"
	}
	if a.Unit != "" {
		return figure.Plain(math.Round(v*1000)/1000) + " " + a.Unit
	}
	if strings.HasPrefix(a.Name, "Context") {
		return figure.Tokens(int(v))
	}
	if a.Log {
		return figure.Grouped(v, a.decimals())
	}
	if v >= 1e6 {
		return figure.Plain(v/1e6) + "M"
	}
	if v >= 1e4 {
		return figure.Plain(v/1e3) + "k"
	}
	return figure.Grouped(v, a.decimals())
}

func (a axis) decimals() int {
	most := 0
	for _, t := range a.Ticks {
		s := strconv.FormatFloat(t, 'g', 6, 64)
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			continue
		}
		if d := decimalsOf(figure.Plain(f)); d > most {
			most = d
		}
	}
	return most
}

func decimalsOf(s string) int {
	for i := range s {
		if s[i] == '.' {
			return len(s) - i - 1
		}
	}
	return 0
}
