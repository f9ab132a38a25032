package gauges

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"assay/fault"
	"assay/result"
	"assay/store"
)

// pageSize is how many runs are read at a time.
const pageSize = 200

// Runs reads the list of runs at each scrape. A run's id is never a label: series must not grow without end.
type Runs struct {
	Store  *store.Store
	States []result.State  // each has a series
	Ctx    context.Context // of the one scrape it lives for
}

// runMetrics are the series of runs, in the order of their fields.
type runMetrics struct{ byState, queue, duration, tps, ended, valid *prometheus.Desc }

func newRunMetrics() runMetrics {
	name := []string{"name"}
	return runMetrics{
		byState:  prometheus.NewDesc("assay_runs", "Runs in the store by state.", []string{"state"}, nil),
		queue:    prometheus.NewDesc("assay_queue_depth", "Runs that wait for their turn.", nil, nil),
		duration: prometheus.NewDesc("assay_run_duration_seconds", "Duration of the last run of a plan that was started and ended.", name, nil),
		tps:      prometheus.NewDesc("assay_run_system_tps", "Highest System TPS of the last valid run of a plan.", name, nil),
		valid:    prometheus.NewDesc("assay_run_valid", "Whether the last run of a plan that ended has the verdict valid: 1, else 0.", name, nil),
		ended:    prometheus.NewDesc("assay_run_last_end_timestamp_seconds", "When the last run of a plan ended.", name, nil),
	}
}

// Describe is part of prometheus.Collector.
func (r Runs) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(r, out) }

// Collect is part of prometheus.Collector.
func (r Runs) Collect(out chan<- prometheus.Metric) {
	m := newRunMetrics()
	t, err := r.tally()
	if err != nil {
		out <- prometheus.NewInvalidMetric(m.byState, err)
		return
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	for _, state := range r.States {
		gauge(m.byState, float64(t.states[state]), string(state))
	}
	gauge(m.queue, float64(t.states[result.Queued]))
	for desc, values := range map[*prometheus.Desc]map[string]float64{m.ended: t.ended, m.duration: t.took, m.tps: t.tps, m.valid: t.valid} {
		for name, v := range values {
			gauge(desc, v, name)
		}
	}
}

// importSource is the source of runs that another client measured.
const importSource = "import"

// tally is one pass over the list of runs: by plan name, the figures of the newest run that has them.
type tally struct {
	states map[result.State]int
	ended  map[string]float64 // when, seconds since 1970
	took   map[string]float64 // s
	tps    map[string]float64 // tok/s, of the newest valid one
	valid  map[string]float64 // 1 or 0
}

func (r Runs) tally() (tally, error) {
	t := tally{map[result.State]int{}, map[string]float64{}, map[string]float64{}, map[string]float64{}, map[string]float64{}}
	for cursor := ""; ; {
		runs, next, err := r.Store.Runs(r.Ctx, store.Filter{Limit: pageSize, Cursor: cursor})
		if err != nil {
			return t, err
		}
		for _, run := range runs { // newest first
			t.add(run)
		}
		if next == "" {
			return t, nil
		}
		cursor = next
	}
}

func (t tally) add(run store.Run) {
	t.states[run.State]++
	if !run.State.Ended() || run.Source == importSource { // an import is no run of a plan
		return
	}
	name, valid := fault.Printable(run.Name), run.State == result.Done && run.Verdict == result.Valid
	first(t.ended, name, float64(run.EndedUS)/1e6)
	if run.StartedUS > 0 {
		first(t.took, name, float64(run.EndedUS-run.StartedUS)/1e6)
	}
	if valid {
		first(t.valid, name, 1)
	}
	first(t.valid, name, 0)
	if valid && run.BestTPS != nil {
		first(t.tps, name, *run.BestTPS)
	}
}

// first keeps the value that came first.
func first(m map[string]float64, name string, v float64) {
	if _, ok := m[name]; !ok {
		m[name] = v
	}
}
