package point

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/report/figure"
	"assay/result"
	"assay/runner/metrics"
)

// Label names a point for people: "C384", "140/s", "8K × 64", "prefill 8K".
func Label(p result.Point) string {
	switch {
	case p.Phase == "prefill" && p.Context != nil:
		return "prefill " + figure.Tokens(*p.Context)
	case p.Context != nil && p.Concurrency != nil:
		return fmt.Sprintf("%s × %d", figure.Tokens(*p.Context), *p.Concurrency)
	case p.Rate != nil:
		return figure.Plain(*p.Rate) + "/s"
	case p.Concurrency != nil:
		return fmt.Sprintf("C%d", *p.Concurrency)
	}
	return p.ID
}

// StateText writes a state for people: "not_valid" → "not valid".
func StateText(s string) string { return strings.ReplaceAll(s, "_", " ") }

// ReasonCodes are the codes of the reasons for a point's state.
func ReasonCodes(p result.Point) []string {
	var codes []string
	for _, r := range p.Reasons {
		codes = append(codes, r.Code)
	}
	return codes
}

// Population says over which requests and events a summary is.
type Population func(p result.Point) *metrics.Summary

// InWindow is the measuring window, each figure of its own population.
func InWindow(p result.Point) *metrics.Summary { return p.Metrics }

// IssueToDrain is every measured request, as MLPerf defines the figures.
func IssueToDrain(p result.Point) *metrics.Summary { return p.MLPerf }

// WhollyInside is the requests sent and finished inside the window, and nothing else.
func WhollyInside(p result.Point) *metrics.Summary { return p.Inside }

// InCell is every request under way inside the window of a decode cell.
func InCell(p result.Point) *metrics.Summary { return p.Cell }

// Streams is the population whose latencies tell of a point: of a decode cell, whose requests are cut off at its end, all that were under
// way; of any other point its window.
func Streams(p result.Point) *metrics.Summary {
	if p.Cell != nil {
		return p.Cell
	}
	return p.Metrics
}

// SystemTPS is the output throughput; false for a prefill point and one that was not measured.
func SystemTPS(p result.Point) (float64, bool) {
	if p.Phase == "prefill" || p.Metrics == nil || p.Metrics.SystemTPS == nil {
		return 0, false
	}
	return *p.Metrics.SystemTPS, true
}

// PerUser is System TPS / concurrency, or the mean stream's speed where the point has no concurrency.
func PerUser(p result.Point) *float64 {
	if p.Metrics == nil {
		return nil
	}
	if p.Metrics.TPSPerUser != nil {
		return p.Metrics.TPSPerUser
	}
	return p.Metrics.TPSPerUserTPOT
}

// Outcomes are the outcomes that any of the points has, ok first, the rest by name.
func Outcomes(points []result.Point, of Population) []string {
	seen := map[string]bool{}
	for _, p := range points {
		if s := of(p); s != nil {
			for name, n := range s.Outcomes {
				seen[name] = seen[name] || n > 0
			}
		}
	}
	maps.DeleteFunc(seen, func(_ string, any bool) bool { return !any })
	names := slices.Sorted(maps.Keys(seen))
	if i := slices.Index(names, "ok"); i > 0 {
		names = slices.Insert(slices.Delete(names, i, i+1), 0, "ok")
	}
	return names
}
