package ceiling

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"time"

	"assay/fault"
	"assay/runner/dataset"
	"assay/runner/load"
	"assay/runner/load/process"
	"assay/runner/record"
	"assay/sim/paced"
)

// Drive is the client's side of a point.
type Drive struct {
	URL       string
	Streams   int
	Tokens    int           // mean length of a reply
	Settle    time.Duration // after the first requests, before the window opens
	Duration  time.Duration
	Recording string // file
	Profile   string // file for a processor profile; "" for none
}

// Driven is what the client says of itself.
type Driven struct {
	ZeroNS      int64         `json:"zero_ns"` // CLOCK_MONOTONIC at time 0 of the recording
	Window      load.Span     `json:"window"`
	CPU         time.Duration `json:"cpu_ns"`     // of the process inside the window
	IdleRSS     int64         `json:"idle_bytes"` // memory held before the first connection
	RSS         int64         `json:"rss_bytes"`  // the most of the window
	StampSource string        `json:"stamp_source"`
	Stopped     string        `json:"stopped,omitempty"`
	Notes       []string      `json:"notes,omitempty"`
}

// Run drives a closed loop until the window is over, and records it as a run does.
func (d Drive) Run(ctx context.Context) (Driven, error) {
	target, err := load.ParseTarget(d.URL)
	if err != nil {
		return Driven{}, err
	}
	clock := load.NewClock()
	out, err := record.Create(d.Recording, record.Header{Run: "bench-client", Point: "c", EpochUS: clock.EpochUS(), StampSource: "user"})
	if err != nil {
		return Driven{}, fault.New(fault.Store, "recording", "choose another folder for temporary files (TMPDIR)", "the recording cannot be made: %w", err)
	}
	cfg := load.Config{
		Targets: []load.Target{target}, Clock: clock, Stall: time.Minute, Drain: time.Millisecond, Salt: load.Salt{Kind: "none"},
		Request: load.Request{Endpoint: "chat", Model: "paced", Dialect: "openai", MaxTokens: d.Tokens},
		Closed:  &load.Closed{Concurrency: d.Streams, Duration: d.Settle + d.Duration + lookEvery},
	}
	if d.Profile != "" {
		f, err := os.Create(d.Profile)
		if err != nil {
			return Driven{}, fault.New(fault.Client, "not_writable", "choose another file", "cannot write the profile: %w", err)
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return Driven{}, fmt.Errorf("profile the client: %w", err)
		}
		defer pprof.StopCPUProfile()
	}
	debug.FreeOSMemory()
	done := Driven{ZeroNS: zero(clock), IdleRSS: process.Resident()}
	var seen []sample
	look := func(p load.Progress) {
		if p.Stage == "measure" && p.Elapsed >= d.Settle {
			seen = append(seen, sample{clock.Now(), process.CPUTime(), process.Resident()})
		}
	}
	res, err := load.Run(ctx, cfg, &prompts{mean: d.Tokens, first: d.Streams}, out.Append, look)
	done.StampSource, done.Stopped, done.Notes = res.Health.StampSource, res.Stopped, res.Notes
	done.over(seen)
	if _, closing := out.Close(); err == nil && closing != nil {
		err = fault.New(fault.Store, "recording", "check the free space for temporary files (TMPDIR)", "the recording could not be written: %w", closing)
	}
	return done, err
}

// lookEvery is at most the time between two samples on a machine that is not overloaded.
const lookEvery = time.Second

// sample is what the process had used at an instant.
type sample struct {
	us  int64
	cpu time.Duration
	rss int64
}

// over takes the window between the first and the last sample: the load was whole at both.
func (d *Driven) over(seen []sample) {
	if len(seen) < 2 {
		d.Stopped = strings.TrimPrefix(d.Stopped+"; the load did not last", "; ")
		return
	}
	first, last := seen[0], seen[len(seen)-1]
	d.Window = load.Span{StartUS: first.us, EndUS: last.us}
	d.CPU = last.cpu - first.cpu
	for _, s := range seen {
		d.RSS = max(d.RSS, s.rss)
	}
}

// zero reads both clocks until they were read closest together. The recording's clock counts whole microseconds, rounded down.
func zero(clock *load.Clock) int64 {
	gap, at := int64(1<<62), int64(0)
	for range 1000 {
		before := paced.Monotonic()
		us := clock.Now()
		after := paced.Monotonic()
		if after-before < gap {
			gap, at = after-before, (before+after)/2-us*1000-500
		}
	}
	return at
}

// prompts yields short prompts whose replies have different lengths, so that streams end one by one. The first of each stream may be
// short: as if all had begun at different times.
type prompts struct {
	mean, first int
	n           int
}

// Next gives a conversation of one turn.
func (p *prompts) Next() (dataset.Conversation, error) {
	least := p.mean / 2
	if p.n < p.first {
		least = 2
	}
	most := p.mean + p.mean/2
	length := least + p.n*7919%(most-least+1) // a prime: all lengths come equally often
	p.n++
	text := fmt.Sprintf("%d%s", p.n, strings.Repeat(" word", promptTokens-1))
	return dataset.Conversation{
		ID:    fmt.Sprintf("p%d", p.n),
		Turns: []dataset.Turn{{Messages: []dataset.Message{{Role: "user", Content: text}}, MaxTokens: length}},
	}, nil
}

// Stats has nothing to tell.
func (p *prompts) Stats() dataset.Stats { return dataset.Stats{} }
