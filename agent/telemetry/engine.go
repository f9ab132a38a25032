package telemetry

import (
	"context"
	"strconv"
	"time"

	"assay/containers"
	"assay/probes"
)

// Series of the engine's own metrics.
const (
	SeriesRunning = "engine.running"
	SeriesWaiting = "engine.waiting"
)

// Engine scrapes the engine's own metrics beside the machine's.
type Engine struct {
	BaseURLs []string
	Preset   containers.Preset
	Access   containers.Access
}

// Name says which source failed when it does.
func (e Engine) Name() string { return "engine" }

// Sample gives the engine's metrics as series engine.<name>, and those of each of several servers as server0.<name>, server1.<name>, …: a sum
// does not show that one of them starves.
func (e Engine) Sample(ctx context.Context) ([]probes.Sample, error) {
	m, err := containers.Scrape(ctx, e.BaseURLs, e.Preset, e.Access)
	out := samples(m.At, "engine", m.Values)
	if len(m.Each) < 2 {
		return out, err
	}
	for i, values := range m.Each {
		out = append(out, samples(m.At, "server"+strconv.Itoa(i), values)...)
	}
	return out, err
}

func samples(at time.Time, of string, values map[string]float64) (out []probes.Sample) {
	for name, v := range values {
		out = append(out, probes.Sample{AtUS: at.UnixMicro(), Series: of + "." + name, Value: v})
	}
	return out
}
