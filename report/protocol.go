package report

import (
	"fmt"
	"slices"

	"assay/report/figure"
	"assay/report/point"
	"assay/result"
)

// protocolPairs say how a matrix was measured, as published pages have it, and how an open loop's requests came; the rest is said with each point.
func (v view) protocolPairs() []pair {
	m := v.plan.Protocol.Matrix
	if m == nil {
		return []pair{{"Arrivals", point.Arrivals(v.plan), ""}}
	}
	out := []pair{
		{"Decode test", "Fixed duration", "the window opens when the load is steady"},
		{"Prefill mode", "Separate cold-cache pass", "prompts that no cache holds"},
		{"Time per measurement", m.Duration.String(), "of a decode cell"},
	}
	if m.MaxTokens > 0 {
		out = append(out, pair{"Max output", figure.Whole(float64(m.MaxTokens)) + " tokens", "of a reply in a decode cell"})
	}
	return out
}

// extent is the size of a matrix: "8 contexts (8K–1019K) × 8 concurrency levels (1–128)"; "" for one without decode cells.
func (v view) extent() string {
	cells := v.phase("decode")
	lengths := contexts(cells)
	var levels []int
	for _, p := range cells {
		if p.Concurrency != nil && !slices.Contains(levels, *p.Concurrency) {
			levels = append(levels, *p.Concurrency)
		}
	}
	if len(lengths) == 0 || len(levels) == 0 {
		return ""
	}
	return fmt.Sprintf("%s (%s) × %s (%s)", figure.Plural(len(lengths), "context"), span(lengths, figure.Tokens),
		figure.Plural(len(levels), "concurrency level"), span(levels, func(n int) string { return figure.Whole(float64(n)) }))
}

// span writes the least and the greatest of numbers, or the only one.
func span(numbers []int, form func(int) string) string {
	low, high := slices.Min(numbers), slices.Max(numbers)
	if low == high {
		return form(low)
	}
	return form(low) + "–" + form(high)
}

// contexts are the contexts of points in their order.
func contexts(points []result.Point) []int {
	var out []int
	for _, p := range points {
		if p.Context != nil && !slices.Contains(out, *p.Context) {
			out = append(out, *p.Context)
		}
	}
	return out
}
