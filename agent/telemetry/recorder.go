package telemetry

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"assay/probes"
	"assay/runner"
)

// Source is a sampler and how often it is asked.
type Source struct {
	probes.Sampler
	Every time.Duration
}

// Recorder samples every source of a run at its interval, keeps the samples of the point being measured and writes all to a file.
type Recorder struct {
	file  *file
	asks  []chan chan<- struct{} // of each loop: whoever asks for a sample now, to be told when it is there
	began time.Time
	wg    sync.WaitGroup
	stop  context.CancelFunc
	mu    sync.Mutex // of what follows; never held while the disk is written to, for the load asks here too
	point []probes.Sample
	last  map[string]probes.Sample // the latest of each series
	await map[string]bool          // samplers whose program is being started, until they tell something or fail
	heard map[string]int64         // sampler → when its latest sample was taken, µs
	lost  map[string]string        // sampler → first error
}

// Start begins sampling into the folder's FileName until Close. A source that hangs is cut off at two intervals and never delays another.
func Start(ctx context.Context, dir string, sources []Source) (*Recorder, error) {
	f, err := openFile(filepath.Join(dir, FileName))
	if err != nil {
		return nil, fmt.Errorf("open the telemetry file: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &Recorder{file: f, began: time.Now(), last: map[string]probes.Sample{}, await: programsOf(sources), heard: map[string]int64{}, lost: map[string]string{}, stop: cancel}
	for _, s := range sources {
		ask := make(chan chan<- struct{}, 1)
		r.asks = append(r.asks, ask)
		r.wg.Go(func() { r.loop(ctx, s, ask) })
	}
	return r, nil
}

// programsOf names the sources that hold a program, which goes on reporting.
func programsOf(sources []Source) map[string]bool {
	names := map[string]bool{}
	for _, s := range sources {
		if _, holds := s.Sampler.(io.Closer); holds {
			names[s.Name()] = true
		}
	}
	return names
}

func (r *Recorder) loop(ctx context.Context, s Source, ask <-chan chan<- struct{}) {
	defer r.release(s)
	tick := time.NewTicker(s.Every)
	defer tick.Stop()
	var asker chan<- struct{}
	for {
		back := r.once(ctx, s, 2*s.Every)
		select { // a sampler is never asked twice at once: one that heeds no limit is asked again when it is back
		case <-ctx.Done():
			return
		case <-back:
		}
		if asker != nil {
			asker <- struct{}{}
		}
		asker = nil
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case asker = <-ask:
		}
	}
}

// release lets go of what a sampler holds.
func (r *Recorder) release(s Source) {
	if c, holds := s.Sampler.(io.Closer); holds {
		r.keep(s.Name(), nil, c.Close())
	}
}

// once asks a sampler and keeps what it says inside the limit. The channel is closed when the sampler is back; a read that hangs in
// the kernel is left behind.
func (r *Recorder) once(ctx context.Context, s probes.Sampler, limit time.Duration) <-chan struct{} {
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
			r.keep(s.Name(), samples, err)
			return back
		}
	case <-limited.Done():
	}
	if ctx.Err() == nil {
		r.keep(s.Name(), nil, fmt.Errorf("did not answer within %s", limit))
	}
	return back
}

func (r *Recorder) keep(name string, samples []probes.Sample, err error) {
	samples, lines := encode(samples)
	r.remember(name, samples, err)
	r.file.append(lines)
}

func (r *Recorder) remember(name string, samples []probes.Sample, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil && r.lost[name] == "" {
		r.lost[name] = err.Error()
	}
	if err != nil || len(samples) > 0 {
		delete(r.await, name)
	}
	r.point = append(r.point, samples...)
	for _, s := range samples {
		r.last[s.Series], r.heard[name] = s, s.AtUS
	}
}

// Mark forgets what was sampled so far and samples every source once: a point begins when they have settled.
func (r *Recorder) Mark(ctx context.Context) {
	r.mu.Lock()
	r.point = nil
	r.mu.Unlock()
	r.Settle(ctx)
}

// snapshotLimit is how long a snapshot waits for slow sources.
const snapshotLimit = 250 * time.Millisecond

// Snapshot samples every source once, beside its interval, so that counters have a value before and after what is measured between. It
// does not wait for a source that is still busy with an earlier question, nor for any beyond snapshotLimit.
func (r *Recorder) Snapshot(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, snapshotLimit)
	defer cancel()
	told, asked := make(chan struct{}, len(r.asks)), 0
	for _, ask := range r.asks {
		select {
		case ask <- told:
			asked++
		default:
		}
	}
	for range asked {
		select {
		case <-told:
		case <-ctx.Done():
			return
		}
	}
}

// Engine gives the engine's latest word on its requests; false when it has said nothing.
func (r *Recorder) Engine() (runner.EngineState, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	running, told := r.last[SeriesRunning]
	waiting, both := r.last[SeriesWaiting]
	return runner.EngineState{Running: running.Value, Waiting: waiting.Value, AtUS: running.AtUS}, told && both && running.AtUS == waiting.AtUS
}

// Latest gives the latest sample of each series, by name.
func (r *Recorder) Latest() []probes.Sample {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []probes.Sample
	for _, name := range slices.Sorted(maps.Keys(r.last)) {
		out = append(out, r.last[name])
	}
	return out
}

// Samples gives all samples since Mark, in the order they came.
func (r *Recorder) Samples() []probes.Sample {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.point)
}

// Close ends sampling and gives the sources that failed.
func (r *Recorder) Close() (map[string]string, error) {
	r.stop()
	r.wg.Wait()
	return r.lost, r.file.close()
}
