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
