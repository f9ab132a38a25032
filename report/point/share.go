package point

import (
	"slices"

	"assay/result"
	"assay/runner/metrics"
)

// Utilized gives the points with each one's share of the highest issue-to-drain System TPS of the run: a document has the share only over
// the measuring windows. The points given stay as they are.
func Utilized(points []result.Point) []result.Point {
	points = slices.Clone(points)
	var drained []*metrics.Summary
	for i, p := range points {
		if p.MLPerf != nil {
			s := *p.MLPerf
			points[i].MLPerf = &s
			drained = append(drained, &s)
		}
	}
	metrics.Utilize(drained)
	return points
}
