package api

import (
	"context"
	"fmt"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"assay/api/gauges"
	"assay/probes"
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
		scrape := prometheus.NewRegistry() // of this one: the figures come from the store, and a restart loses none
		for _, part := range append(s.machineNow(c.Request().Context()), gauges.Runs{Store: s.Store, States: runStates(), Ctx: ctx}, gauges.Node{Store: s.Store, Ctx: ctx}) {
			if err := scrape.Register(part); err != nil {
				return fmt.Errorf("collect metrics: %w", err)
			}
		}
		promhttp.HandlerFor(prometheus.Gatherers{reg, scrape}, opts).ServeHTTP(c.Response(), c.Request())
		return nil
	}
}

// machineNow is what is known of the machine without looking at it.
func (s *Server) machineNow(ctx context.Context) []prometheus.Collector {
	var samples []probes.Sample
	running := false
	if s.Live != nil {
		samples, running = s.Live()
	}
	parts := []prometheus.Collector{gauges.Live{Samples: samples, NowUS: s.Now().UnixMicro()}}
	if p := s.glance(ctx, running); p != nil {
		parts = append(parts, gauges.Machine{SUT: p.sut, Checks: p.checks})
	}
	return parts
}

func buildInfo(p probes.Program) prometheus.Collector {
	g := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "assay_build_info", Help: "The program; always 1.",
		ConstLabels: prometheus.Labels{"version": p.Version, "commit": p.Commit, "go": p.Go},
	})
	g.Set(1)
	return g
}
