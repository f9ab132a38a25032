package runner

import (
	"assay/plan"
	"assay/runner/load"
	"assay/runner/record"
)

// Warmup is what was sent of a point before its window opened. A sweep's and a prefill pass's is what the plan's warm-up sent, any other
// point's all; probes are none of it.
type Warmup struct {
	Requests         int      `json:"requests"`
	DurationS        float64  `json:"duration_s"`                  // from the sending of the first of them to the window's start
	Stable           *bool    `json:"stable,omitempty"`            // the load was, as the window opened; nil where none was asked for
	Steps            int      `json:"steps,omitempty"`             // of a sweep's warm-up until it is stable
	ThroughputSpread *float64 `json:"throughput_spread,omitempty"` // of the last three of them: (highest − lowest) / mean
	TTFTSpread       *float64 `json:"ttft_spread,omitempty"`       // of their median TTFT
}

// sentBefore counts what was sent before a window.
type sentBefore struct {
	startUS  int64 // of the window
	all      bool  // measured requests too
	requests int
	firstUS  int64
}

func (s *sentBefore) add(q *record.Request) {
	if q.SentUS == record.Never || q.SentUS >= s.startUS || q.Warmup && q.Session == load.ProbeSession || !q.Warmup && !s.all {
		return
	}
	if s.requests == 0 || q.SentUS < s.firstUS {
		s.firstUS = q.SentUS
	}
	s.requests++
}

// warmup is nil when nothing was sent.
func (s *sentBefore) warmup() *Warmup {
	if s.requests == 0 {
		return nil
	}
	return &Warmup{Requests: s.requests, DurationS: float64(s.startUS-s.firstUS) / 1e6}
}

// WarmedUp is the point's warm-up by its recording, with what the client knows of it; nil when there was none.
func (r Reading) WarmedUp(p plan.Point, m Measurement) *Warmup {
	if r.Warmup == nil {
		return nil
	}
	w := *r.Warmup
	switch stable := m.Unready == ""; {
	case m.Warmup != nil:
		w.Stable, w.Steps, w.ThroughputSpread, w.TTFTSpread = &m.Warmup.Stable, m.Warmup.Steps, m.Warmup.ThroughputSpread, m.Warmup.TTFTSpread
	case p.Phase == plan.PhaseDecode && m.Window.EndUS > m.Window.StartUS:
		w.Stable = &stable
	}
	return &w
}
