package ceiling

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"assay/runner/record"
	"assay/sim/paced"
)

// Measured is what came of a point.
type Measured struct {
	Point
	Got float64 `json:"got_per_s"` // events the server sent
	Accuracy
	CPUPerEvent  float64  `json:"cpu_us_per_event"` // of the client's process inside the window
	Cores        float64  `json:"cores"`            // that it used
	RSSPerStream float64  `json:"rss_kib_per_stream"`
	StampSource  string   `json:"stamp_source"`
	Floor        *Floor   `json:"floor,omitempty"`
	Held         bool     `json:"held"`
	Why          []string `json:"why,omitempty"` // it was not
	Notes        []string `json:"notes,omitempty"`
}

// Floor is what the least possible client took for the same: a loop in C that waits, reads and looks at the clock.
type Floor struct {
	CPUPerEvent float64 `json:"cpu_us_per_event"`
	Got         float64 `json:"got_per_s"`
	Ratio       float64 `json:"ratio"` // of our processor time per event to its
}

// Measure measures a point for so long; floor is the program of the least client, "" for none.
func (p Process) Measure(ctx context.Context, point Point, length time.Duration, floor string) (Measured, error) {
	log, recording := filepath.Join(p.Dir, "truth"), filepath.Join(p.Dir, "client.rec")
	s, err := p.serve(ctx, point, log)
	if err != nil {
		return Measured{}, err
	}
	out, err := p.run(ctx, "client", p.Program, "bench-client", "drive", s.url, "--streams", strconv.Itoa(point.Streams),
		"--tokens", strconv.Itoa(point.tokens()), "--settle", point.settle().String(), "--duration", length.String(), "--recording", recording)
	truths, ending := s.truths(log)
	if err != nil {
		return Measured{}, err
	}
	if ending != nil {
		return Measured{}, ending
	}
	var d Driven
	if err := json.Unmarshal(out, &d); err != nil {
		return Measured{}, failed("client", err, "")
	}
	rec, err := record.Read(recording)
	if err != nil {
		return Measured{}, failed("client", err, "")
	}
	m := sum(point, d, compare(rec.Requests, truths, d))
	if floor != "" {
		if m.Floor, err = p.floor(ctx, point, length, floor); err != nil {
			return Measured{}, err
		}
		m.Floor.Ratio = m.CPUPerEvent / m.Floor.CPUPerEvent
	}
	return m, nil
}

// truths ends the server and reads its log.
func (s *server) truths(log string) ([]paced.Truth, error) {
	if err := s.end(); err != nil {
		return nil, err
	}
	f, err := os.Open(log)
	if err != nil {
		return nil, failed("server", err, "")
	}
	defer f.Close()
	all, err := paced.ReadLog(f)
	if err != nil {
		return nil, failed("server", err, "")
	}
	return all, nil
}

// floor measures the least client against a server of the same kind.
func (p Process) floor(ctx context.Context, point Point, length time.Duration, program string) (*Floor, error) {
	log := filepath.Join(p.Dir, "floor")
	s, err := p.serve(ctx, point, log)
	if err != nil {
		return nil, err
	}
	out, err := p.run(ctx, "floor", program, s.port(), strconv.Itoa(point.Streams), strconv.Itoa(point.tokens()),
		fmt.Sprint(point.settle().Seconds()), fmt.Sprint(length.Seconds()))
	truths, ending := s.truths(log)
	if err != nil {
		return nil, err
	}
	if ending != nil {
		return nil, ending
	}
	var said struct {
		From int64 `json:"from_ns"`
		To   int64 `json:"to_ns"`
		CPU  int64 `json:"cpu_ns"`
	}
	if err := json.Unmarshal(out, &said); err != nil || said.To <= said.From {
		return nil, failed("floor", fmt.Errorf("it said %q", out), "")
	}
	n := float64(sent(truths, said.From, said.To))
	return &Floor{CPUPerEvent: float64(said.CPU) / 1000 / n, Got: n / (float64(said.To-said.From) / 1e9)}, nil
}

func sum(point Point, d Driven, a Accuracy) Measured {
	seconds := max(1e-6, float64(d.Window.EndUS-d.Window.StartUS)/1e6)
	m := Measured{
		Point: point, Accuracy: a, Got: float64(a.Sent) / seconds, Cores: d.CPU.Seconds() / seconds,
		RSSPerStream: float64(max(0, d.RSS-d.IdleRSS)) / 1024 / float64(point.Streams),
		StampSource:  d.StampSource, Notes: d.Notes,
	}
	if a.Sent > 0 {
		m.CPUPerEvent = float64(d.CPU.Nanoseconds()) / 1000 / float64(a.Sent)
	}
	if d.Stopped != "" {
		m.Why = append(m.Why, d.Stopped)
	}
	m.Why = append(m.Why, m.faults()...)
	m.Held = len(m.Why) == 0
	return m
}

// Limits of a point that is held.
const (
	mostErrorUS   = 50
	leastInFlight = 0.995
	leastRate     = 0.99
)

// faults says what keeps the point from being held.
func (m Measured) faults() []string {
	var why []string
	add := func(bad bool, format string, args ...any) {
		if bad {
			why = append(why, fmt.Sprintf(format, args...))
		}
	}
	add(m.Lost > 0, "%d events lost", m.Lost)
	add(m.Failed > 0, "%d requests failed", m.Failed)
	add(m.InFlight < leastInFlight*float64(m.Streams), "%.1f of %d streams in flight", m.InFlight, m.Streams)
	add(m.Rate > 0 && m.Got < leastRate*m.Rate && m.InFlight >= leastInFlight*float64(m.Streams),
		"the server sent %.0f of %.0f events/s: this machine cannot make the load", m.Got, m.Rate)
	for _, e := range []struct {
		what string
		q    Quantiles
	}{{"stamp", m.Stamp}, {"TTFT", m.TTFT}, {"ITL", m.ITL}} {
		add(m.Rate > 0 && math.Abs(e.q.P99) > mostErrorUS, "p99 %s error %.0f µs", e.what, e.q.P99)
	}
	return why
}
