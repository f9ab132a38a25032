package api

import (
	"context"
	"fmt"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"assay/probes"
	"assay/result"
	"assay/store"
)

// scrapeLimit bounds the time a scrape spends in the database.
const scrapeLimit = 5 * time.Second

// metrics serves Prometheus metrics of this server's own registry.
func (s *Server) metrics() echo.HandlerFunc {
	reg := prometheus.NewRegistry()
	reg.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		buildInfo(s.Program),
	)
	opts := promhttp.HandlerOpts{Registry: reg}
	return func(c echo.Context) error {
		ctx, cancel := context.WithTimeout(c.Request().Context(), scrapeLimit)
		defer cancel()
		runs := prometheus.NewRegistry() // of this scrape: the figures come from the store, and a restart loses none
		if err := runs.Register(runCollector{s.Store, ctx}); err != nil {
			return fmt.Errorf("collect metrics of runs: %w", err)
		}
		promhttp.HandlerFor(prometheus.Gatherers{reg, runs}, opts).ServeHTTP(c.Response(), c.Request())
		return nil
	}
}

func buildInfo(p probes.Program) prometheus.Collector {
	g := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "assay_build_info", Help: "The program; always 1.",
		ConstLabels: prometheus.Labels{"version": p.Version, "commit": p.Commit, "go": p.Go},
	})
	g.Set(1)
	return g
}

// runCollector reads the list of runs at each scrape. A run's id is never a label: series must not grow without end.
type runCollector struct {
	store *store.Store
	ctx   context.Context // of the one scrape it lives for
}

// runMetrics are the series of runs, in the order of their fields.
type runMetrics struct{ byState, queue, duration, tps, ended *prometheus.Desc }

func newRunMetrics() runMetrics {
	name := []string{"name"}
	return runMetrics{
		byState:  prometheus.NewDesc("assay_runs", "Runs in the store by state.", []string{"state"}, nil),
		queue:    prometheus.NewDesc("assay_queue_depth", "Runs that wait for their turn.", nil, nil),
		duration: prometheus.NewDesc("assay_run_duration_seconds", "Duration of the last run of a plan that was started and ended.", name, nil),
		tps:      prometheus.NewDesc("assay_run_system_tps", "Highest System TPS of the last run of a plan that has one.", name, nil),
		ended:    prometheus.NewDesc("assay_run_last_end_timestamp_seconds", "When the last run of a plan ended.", name, nil),
	}
}

// Describe is part of prometheus.Collector.
func (r runCollector) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(r, out) }

// Collect is part of prometheus.Collector.
func (r runCollector) Collect(out chan<- prometheus.Metric) {
	m := newRunMetrics()
	t, err := r.tally()
	if err != nil {
		out <- prometheus.NewInvalidMetric(m.byState, err)
		return
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	for _, state := range runStates() {
		gauge(m.byState, float64(t.states[state]), string(state))
	}
	gauge(m.queue, float64(t.states[result.Queued]))
	for desc, values := range map[*prometheus.Desc]map[string]float64{m.ended: t.ended, m.duration: t.took, m.tps: t.tps} {
		for name, v := range values {
			gauge(desc, v, name)
		}
	}
}

// tally is one pass over the list of runs: by plan name, the figures of the newest run that has them.
type tally struct {
	states map[result.State]int
	ended  map[string]float64 // when, seconds since 1970
	took   map[string]float64 // s
	tps    map[string]float64 // tok/s
}

func (r runCollector) tally() (tally, error) {
	t := tally{map[result.State]int{}, map[string]float64{}, map[string]float64{}, map[string]float64{}}
	for cursor := ""; ; {
		runs, next, err := r.store.Runs(r.ctx, store.Filter{Limit: maxLimit, Cursor: cursor})
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
	if !run.State.Ended() {
		return
	}
	first(t.ended, run.Name, float64(run.EndedUS)/1e6)
	if run.StartedUS > 0 {
		first(t.took, run.Name, float64(run.EndedUS-run.StartedUS)/1e6)
	}
	if run.BestTPS != nil {
		first(t.tps, run.Name, *run.BestTPS)
	}
}

// first keeps the value that came first.
func first(m map[string]float64, name string, v float64) {
	if _, ok := m[name]; !ok {
		m[name] = v
	}
}
