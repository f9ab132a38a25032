package report

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/report/plot"
	"assay/result"
	"assay/runner/metrics"
)

// sweepOf is a view of n points at doubling concurrency.
func sweepOf(n int) view {
	r := result.Result{Plan: []byte(`{"protocol":{"sweep":{}}}`)}
	for i := range n {
		x := float64(i + 1)
		r.Points = append(r.Points, result.Point{ID: fmt.Sprintf("c%d", i+1), Phase: "sweep", Concurrency: ptr(i + 1), State: result.PointValid,
			Metrics: &metrics.Summary{SystemTPS: ptr(900 * x / (x + 6)), TPSPerUser: ptr(900 / (x + 6)), TTFTMS: &metrics.Distribution{P90: 3 * x}}})
	}
	return newView(r)
}

// A point without a value is named below the plot, never drawn at zero.
func TestChartMissing(t *testing.T) {
	v := sweepOf(4)
	v.res.Points[2].Metrics = nil
	v.res.Points[3].Metrics.TTFTMS = nil
	c := v.charts()[2].Draw()
	if c.N != 2 || c.Legend != "No value: C3, C4." {
		t.Errorf("N %d, legend %q", c.N, c.Legend)
	}
	if p := (plot.Chart{Title: "empty", Series: []plot.Line{{}}}).Draw(); p.N != 0 || len(p.Lines) != 0 {
		t.Errorf("empty chart: %+v", p)
	}
}

func TestMatrixCharts(t *testing.T) {
	v := newView(matrixInput().Result)
	var counts []int
	for _, c := range v.charts() {
		counts = append(counts, c.Draw().N)
	}
	if d := cmp.Diff([]int{22, 22, 3, 3}, counts); d != "" {
		t.Error(d)
	}
	h := v.heatOf()
	if h.N != 22 || len(h.Columns) != 8 || len(h.Rows) != 3 {
		t.Errorf("heat map: %d cells, %d columns, %d rows", h.N, len(h.Columns), len(h.Rows))
	}
	if got := h.Rows[2].Cells[7]; got.State != "Over capacity" || got.Value != "" {
		t.Errorf("cell over capacity: %+v", got)
	}
	if got := h.Rows[2].Cells[5]; got.State != "Requests queued" || got.Value == "" {
		t.Errorf("cell with a queue: %+v", got)
	}
}

// TestTraceIsShownBySpeed: the points of a replayed trace have no rate; what was turned is its speed.
func TestTraceIsShownBySpeed(t *testing.T) {
	in := serveInput()
	in.Result.Plan = []byte(`{"workload":{"kind":"trace"},"protocol":{"serve":{"arrival":"trace","speed":[1,2]}}}`)
	one := in.Result.Points[0]
	one.ID, one.Rate, one.Speed = "x1", nil, ptr(1.0)
	two := one
	two.ID, two.Speed = "x2", ptr(2.0)
	in.Result.Points = []result.Point{one, two}
	v := newView(in.Result)
	if c := v.charts()[1]; c.XName != "Speed of the trace" || c.Draw().N != 2 {
		t.Errorf("%s with %d points", c.XName, c.Draw().N)
	}
	if got := v.offered(two).Text; got != "(no limit, trace × 2)" {
		t.Errorf("offered %q", got)
	}
}
