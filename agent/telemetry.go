package agent

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"assay/containers"
	"assay/probes"
	"assay/result"
	"assay/runner"
)

// Series of the engine's own metrics.
const (
	seriesRunning = "engine.running"
	seriesWaiting = "engine.waiting"
)

// telemetryFile holds a run's samples, one JSON object a line.
const telemetryFile = "telemetry.jsonl"

// telemetry samples every source of a run at one interval, keeps the samples of the point being measured and writes all to a file.
type telemetry struct {
	mu    sync.Mutex
	file  *os.File
	out   *bufio.Writer
	point []probes.Sample
	last  map[string]probes.Sample // the latest of each series
	lost  map[string]string        // sampler → first error
	wg    sync.WaitGroup
	stop  context.CancelFunc
}

// source is a sampler and how often it is asked.
type source struct {
	probes.Sampler
	every time.Duration
}

// startTelemetry begins sampling until close. A source that hangs is cut off at two intervals and never delays another.
func startTelemetry(ctx context.Context, dir string, sources []source) (*telemetry, error) {
	f, err := os.OpenFile(filepath.Join(dir, telemetryFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the telemetry file: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	t := &telemetry{file: f, out: bufio.NewWriter(f), last: map[string]probes.Sample{}, lost: map[string]string{}, stop: cancel}
	t.out.WriteByte('\n') // a resumed run's last line may have been cut off by a crash: what follows stays readable
	for _, s := range sources {
		t.wg.Go(func() { t.loop(ctx, s) })
	}
	return t, nil
}

func (t *telemetry) loop(ctx context.Context, s source) {
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	for {
		back := t.once(ctx, s, 2*s.every)
		select { // a sampler is never asked twice at once: one that heeds no limit is asked again when it is back
		case <-ctx.Done():
			return
		case <-back:
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// once asks a sampler and keeps what it says inside the limit. The channel is closed when the sampler is back; a read that hangs in
// the kernel is left behind.
func (t *telemetry) once(ctx context.Context, s probes.Sampler, limit time.Duration) <-chan struct{} {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	back := make(chan struct{})
	var samples []probes.Sample
	var err error
	go func() {
		defer close(back)
		samples, err = s.Sample(limited)
	}()
	select {
	case <-back:
		if err == nil || limited.Err() == nil {
			t.keep(s.Name(), samples, err)
			return back
		}
	case <-limited.Done():
	}
	if ctx.Err() == nil {
		t.keep(s.Name(), nil, fmt.Errorf("did not answer within %s", limit))
	}
	return back
}

func (t *telemetry) keep(name string, samples []probes.Sample, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil && t.lost[name] == "" {
		t.lost[name] = err.Error()
	}
	for _, s := range samples {
		b, err := json.Marshal(s)
		if err != nil {
			continue // NaN and Inf have no JSON form and say nothing
		}
		t.point, t.last[s.Series] = append(t.point, s), s
		t.out.Write(append(b, '\n')) // a failed write stays in the writer and is told by close
	}
}

// mark forgets what was sampled so far: a point begins.
func (t *telemetry) mark() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.point = nil
}

// engine gives the engine's latest word on its requests; false when it has said nothing.
func (t *telemetry) engine() (runner.EngineState, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	running, told := t.last[seriesRunning]
	waiting, both := t.last[seriesWaiting]
	return runner.EngineState{Running: running.Value, Waiting: waiting.Value, AtUS: running.AtUS}, told && both && running.AtUS == waiting.AtUS
}

// within gives the samples since mark that lie in [fromUS, toUS).
func (t *telemetry) within(fromUS, toUS int64) []probes.Sample {
	t.mu.Lock()
	defer t.mu.Unlock()
	var in []probes.Sample
	for _, s := range t.point {
		if s.AtUS >= fromUS && s.AtUS < toUS {
			in = append(in, s)
		}
	}
	return in
}

// close ends sampling and gives the sources that failed.
func (t *telemetry) close() (map[string]string, error) {
	t.stop()
	t.wg.Wait()
	if err := t.out.Flush(); err != nil {
		t.file.Close()
		return t.lost, fmt.Errorf("write telemetry: %w", err)
	}
	return t.lost, t.file.Close()
}

// summarise turns samples into one line per series, with energy by trapezoid where the series is power.
func summarise(samples []probes.Sample) map[string]result.Telemetry {
	bySeries := map[string][]probes.Sample{}
	for _, s := range samples {
		bySeries[s.Series] = append(bySeries[s.Series], s)
	}
	out := map[string]result.Telemetry{}
	for name, ss := range bySeries {
		out[name] = summariseSeries(probes.Unit(name), ss)
	}
	return out
}

func summariseSeries(unit string, ss []probes.Sample) result.Telemetry {
	t := result.Telemetry{Unit: unit, Min: ss[0].Value, Max: ss[0].Value, N: len(ss), SpanS: float64(ss[len(ss)-1].AtUS-ss[0].AtUS) / 1e6}
	var sum, energyJ float64
	for i, s := range ss {
		t.Min, t.Max = min(t.Min, s.Value), max(t.Max, s.Value)
		sum += s.Value
		if i > 0 {
			energyJ += (s.Value + ss[i-1].Value) / 2 * float64(s.AtUS-ss[i-1].AtUS) / 1e6
		}
	}
	t.Mean = sum / float64(len(ss))
	if unit == "W" && len(ss) > 1 {
		t.EnergyJ = &energyJ
	}
	return t
}

// engineSampler scrapes the engine's own metrics beside the machine's.
type engineSampler struct {
	baseURLs []string
	preset   containers.Preset
	access   containers.Access
}

// Name says which source failed when it does.
func (e engineSampler) Name() string { return "engine" }

// Sample gives the engine's metrics as series engine.<name>.
func (e engineSampler) Sample(ctx context.Context) ([]probes.Sample, error) {
	m, err := containers.Scrape(ctx, e.baseURLs, e.preset, e.access)
	if err != nil {
		return nil, err
	}
	var out []probes.Sample
	for name, v := range m.Values {
		out = append(out, probes.Sample{AtUS: m.At.UnixMicro(), Series: "engine." + name, Value: v})
	}
	return out, nil
}
