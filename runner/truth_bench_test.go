package runner_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"assay/plan"
	"assay/runner/record"
	"assay/sim"
)

// BenchmarkTruth measures points against a simulated engine and tells how far the client is from the server's own log: the receive
// stamps (recv: the stamp less the instant before the write), the percentiles of ttft, itl, tpot and e2e that a result shows, and the
// system throughput, in millionths. The way is from the client's sending to the server's handler, which no client can see: the time to the
// first token has it and the engine's own histogram has not. beyond counts the percentiles and means, of the 4 × 11 that a result shows,
// that are off by more than 50 µs and by more than 0.1 %.
func BenchmarkTruth(b *testing.B) {
	for _, c := range []int{1, 16, 128} {
		b.Run(fmt.Sprintf("streams=%d", c), func(b *testing.B) {
			cfg := sim.Default()
			cfg.MaxRunning = c
			p := plan.Plan{
				Workload: plan.Workload{Kind: "synthetic", InputLen: 32, Sampling: plan.Sampling{MaxTokens: 64, IgnoreEOS: true}},
				Protocol: plan.Protocol{Sweep: &plan.Sweep{Duration: plan.Duration(3 * time.Second)}},
			}
			all := distances{pairs: map[string]*[2][]float64{}}
			for b.Loop() {
				d := measure(b, cfg, p, plan.Point{ID: "c", Phase: plan.PhaseSweep, Concurrency: c})
				for _, s := range d.sights {
					all.add(s)
				}
				all.throughput(d)
			}
			all.report(b)
		})
	}
}

// distances are what both sides have of the same, µs.
type distances struct {
	recv, way []float64
	pairs     map[string]*[2][]float64 // by metric: the client's values and the server's
	ppm       float64
	late      int // events whose stamp is that of a later one
}

// add takes the requests that were measured and ended well.
func (e *distances) add(s sight) {
	if s.client.Warmup || s.client.Outcome != record.OK || len(s.events) < 2 {
		return
	}
	last := len(s.events) - 1
	sent, after := float64(s.client.SentUS), float64(s.output()-s.events[0].n)
	client := func(i int) float64 { return float64(s.events[i].at) }
	server := func(i int) float64 { return float64(s.atServer(s.server.Events[i].AtUS)) }
	e.way = append(e.way, float64(s.arrived())-sent)
	for i, ev := range s.events {
		e.recv = append(e.recv, client(i)-server(i))
		if ev.late {
			e.late++
		}
		if i > 0 {
			e.pair("itl", client(i)-client(i-1), server(i)-server(i-1))
		}
	}
	e.pair("ttft", client(0)-sent, server(0)-sent)
	e.pair("e2e", client(last)-sent, server(last)-sent)
	e.pair("tpot", (client(last)-client(0))/after, (server(last)-server(0))/after)
}

func (e *distances) pair(metric string, client, server float64) {
	p := e.pairs[metric]
	if p == nil {
		p = &[2][]float64{}
		e.pairs[metric] = p
	}
	p[0], p[1] = append(p[0], client), append(p[1], server)
}

// throughput compares the tokens inside the window by the server's instants with those by the client's.
func (e *distances) throughput(d measured) {
	var server float64
	for _, s := range d.sights {
		for i, ev := range s.events {
			if at := s.atServer(s.server.Events[i].AtUS); !s.client.Warmup && at >= d.m.Window.StartUS && at < d.m.Window.EndUS {
				server += float64(ev.n)
			}
		}
	}
	seconds := float64(d.m.Window.EndUS-d.m.Window.StartUS) / 1e6
	e.ppm = max(e.ppm, 1e6*math.Abs(*d.reading.Metrics.SystemTPS*seconds/server-1))
}

func (e *distances) report(b *testing.B) {
	for name, v := range map[string][]float64{"recv": e.recv, "way": e.way} {
		slices.Sort(v)
		b.ReportMetric(atRank(v, 50), name+"-p50-µs")
		b.ReportMetric(atRank(v, 99), name+"-p99-µs")
	}
	beyond := 0
	for name, v := range e.pairs {
		slices.Sort(v[0])
		slices.Sort(v[1])
		for _, p := range []float64{1, 5, 10, 25, 50, 75, 90, 95, 99, 99.9} {
			beyond += off(atRank(v[0], p), atRank(v[1], p))
		}
		beyond += off(mean(v[0]), mean(v[1]))
		for _, p := range []float64{50, 99} {
			b.ReportMetric(math.Abs(atRank(v[0], p)-atRank(v[1], p)), fmt.Sprintf("%s-p%v-off-µs", name, p))
		}
	}
	b.ReportMetric(float64(beyond), "beyond")
	b.ReportMetric(e.ppm, "tps-off-ppm")
	b.ReportMetric(100*float64(e.late)/float64(len(e.recv)), "late-%")
}

// off is 1 for two values, in µs, that differ by more than the client may.
func off(client, server float64) int {
	if d := math.Abs(client - server); d > 50 && d > server/1000 {
		return 1
	}
	return 0
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
