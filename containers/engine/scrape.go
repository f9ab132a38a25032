package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"sync"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"assay/fault"
)

// Metrics is one scrape of servers, by our names: running, waiting, kv_usage, prompt_tokens, generation_tokens, prefix_queries, prefix_hits,
// preemptions. A missing metric is absent.
type Metrics struct {
	At     time.Time
	Values map[string]float64   // over all servers
	Each   []map[string]float64 // of each server, in the order of their addresses
}

// Scrape reads the metrics of servers by our names, over all of them and all their engines. What one of them does not have is absent,
// never 0: a sum over the others would be another figure. When one of them does not answer there is no sum, but what the others told.
func Scrape(ctx context.Context, baseURLs []string, p Preset, access Access) (Metrics, error) {
	if p.MetricsPath == "" {
		return Metrics{}, fault.New(fault.Telemetry, "no_metrics", "go without: the figures of the client need none", "engine %s has no metrics", p.Name)
	}
	each := make([]map[string]float64, len(baseURLs))
	failed := make([]error, len(baseURLs))
	var asking sync.WaitGroup
	for i, base := range baseURLs {
		asking.Go(func() { each[i], failed[i] = scrape(ctx, base, p, access) })
	}
	asking.Wait()
	m := Metrics{At: time.Now(), Each: each}
	if err := errors.Join(failed...); err != nil {
		return m, err
	}
	m.Values = together(each)
	return m, nil
}

// scrape reads the metrics of one server.
func scrape(ctx context.Context, base string, p Preset, access Access) (map[string]float64, error) {
	r := Asker{Base: base, Access: access, Transport: NewTransport(base, access)}.get(ctx, p.MetricsPath, metricsCap)
	if r.Err != nil || r.Status != http.StatusOK {
		return nil, fault.New(fault.Telemetry, "scrape_failed", "start the server with its metrics on", "%s%s answered %s", base, p.MetricsPath, r)
	}
	families, err := parseMetrics(r.Body)
	if err != nil {
		return nil, fault.New(fault.Telemetry, "scrape_failed", "", "scrape %s: %s", base, FirstLine(access.Hide(err.Error())))
	}
	return valuesOf(families, p), nil
}

// together adds the counts of servers; the KV usage is their mean.
func together(each []map[string]float64) map[string]float64 {
	out := map[string]float64{}
	for name, sum := range each[0] {
		all := true
		for _, values := range each[1:] {
			v, ok := values[name]
			sum, all = sum+v, all && ok
		}
		if name == "kv_usage" {
			sum /= float64(len(each))
		}
		if all {
			out[name] = sum
		}
	}
	return out
}

// parseMetrics reads the Prometheus text format. What stands before a broken line is lost with it: a half read scrape would
// look like a server without those metrics.
func parseMetrics(b []byte) (map[string]*dto.MetricFamily, error) {
	if len(b) > 0 && b[len(b)-1] != '\n' {
		b = append(bytes.Clone(b), '\n')
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("read metrics: %w", err)
	}
	if len(families) == 0 {
		return nil, errors.New("read metrics: there are none")
	}
	return families, nil
}

// valuesOf translates to our names: counts are summed over engines, the KV usage is their mean.
func valuesOf(families map[string]*dto.MetricFamily, p Preset) map[string]float64 {
	out := map[string]float64{}
	for name, alternatives := range p.Metrics {
		for _, series := range alternatives {
			total, n, ok := series.sum(families)
			if !ok {
				continue
			}
			if name == "kv_usage" {
				total /= float64(n)
			}
			out[name] = total
			break
		}
	}
	return out
}

// sum adds a series over all engines; n counts the values of its first name. It is absent when one of its names is.
func (s Series) sum(families map[string]*dto.MetricFamily) (total float64, n int, ok bool) {
	for i, name := range s {
		metrics := slices.DeleteFunc(slices.Clone(families[name].GetMetric()), follows)
		if len(metrics) == 0 {
			return 0, 0, false
		}
		for _, m := range metrics {
			v := value(m)
			if math.IsNaN(v) {
				return 0, 0, false
			}
			total += v
		}
		if i == 0 {
			n = len(metrics)
		}
	}
	return total, n, n > 0
}

// follows tells a rank of tensor or pipeline parallelism that has the requests of the first one; those of data parallelism have their own.
func follows(m *dto.Metric) bool {
	return slices.ContainsFunc(m.GetLabel(), func(l *dto.LabelPair) bool {
		name := l.GetName()
		return (name == "tp_rank" || name == "pp_rank") && l.GetValue() != "0"
	})
}

func value(m *dto.Metric) float64 {
	switch {
	case m.Counter != nil:
		return m.Counter.GetValue()
	case m.Gauge != nil:
		return m.Gauge.GetValue()
	case m.Untyped != nil:
		return m.Untyped.GetValue()
	case m.Histogram != nil:
		return m.Histogram.GetSampleSum()
	case m.Summary != nil:
		return m.Summary.GetSampleSum()
	}
	return math.NaN()
}
