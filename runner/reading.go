package runner

import (
	"io"

	"assay/plan"
	"assay/runner/metrics"
	"assay/runner/record"
)

// Pass says what one pass over a point's recording is to give.
type Pass struct {
	Window metrics.Window
	Issue  metrics.Window // from the first measured request's issue to the end of the drain
	Shape  metrics.Shape
	MLPerf bool // also over issue to drain
	Inside bool // also of the requests sent and finished inside the window
	Cell   bool // also of every request under way inside the window, as a decode cell has them
}

// PassOf is the pass that a point of a plan gets: a sweep is told over issue to drain too, an open loop of the requests
// inside, a decode cell of all its streams.
func PassOf(p plan.Plan, at plan.Point, window, issue metrics.Window) Pass {
	return Pass{Window: window, Issue: issue, Shape: ShapeOf(p, at), MLPerf: at.Phase == plan.PhaseSweep, Inside: at.Phase == plan.PhaseServe, Cell: at.Phase == plan.PhaseDecode}
}

// Reading is all that a result tells of a point's recording, made in one pass in bounded memory.
type Reading struct {
	record.Whole
	Metrics      metrics.Summary
	MLPerf       *metrics.Summary // nil when not asked for
	Inside       *metrics.Summary // nil when not asked for
	Cell         *metrics.Summary // nil when not asked for
	Counts       record.Counts
	Refills      *metrics.Refills
	Broken       int    // requests of all, warm-up too, whose connection broke or was refused
	Unfinished   int    // requests of all, warm-up too, that are not ok
	OutputTokens int64  // of all requests, warm-up too
	TokenSource  string // the weakest of the measured requests
	Said         Said   // by the failed of the measured requests; nil when they said nothing
	outside      outside
	Warmup       *Warmup // what was sent before the window, without what only the client knows; nil when nothing was
	PromptTokens *int64  // matrix: median prompt by the server's count, the warm-up's too; nil when it counted none
}

// File reads the recording at path; errors are those of record.ScanFile.
func (p Pass) File(path string) (Reading, error) {
	return p.over(func(visit func(*record.Request) error) (record.Whole, error) { return record.ScanFile(path, visit) })
}

// Read reads a recording; errors are those of record.Scan.
func (p Pass) Read(in io.Reader) (Reading, error) {
	return p.over(func(visit func(*record.Request) error) (record.Whole, error) { return record.Scan(in, visit) })
}

func (p Pass) over(scan func(visit func(*record.Request) error) (record.Whole, error)) (Reading, error) {
	out := Reading{Refills: metrics.OverRefills(p.Window, p.Shape.Concurrency)}
	window := metrics.OverWindow(p.Window, p.Shape)
	issue := metrics.OverIssue(p.Issue, p.Shape)
	inside := metrics.OverInside(p.Window, p.Shape)
	cell := metrics.OverCell(p.Window, p.Shape)
	prompts := promptLengths{}
	before := sentBefore{startUS: p.Window.StartUS, all: p.Inside || p.Cell}
	var err error
	out.Whole, err = scan(func(r *record.Request) error {
		window.Add(r)
		if p.MLPerf {
			issue.Add(r)
		}
		if p.Inside {
			inside.Add(r)
		}
		if p.Cell {
			cell.Add(r)
		}
		out.Counts.Add(r, p.Window.StartUS, p.Window.EndUS)
		out.Refills.Add(r)
		out.count(r)
		before.add(r)
		if !r.Warmup {
			out.outside.add(r, p.Window)
		}
		if p.Cell || p.Shape.Prefill {
			prompts.add(r)
		}
		return nil
	})
	if err != nil {
		return out, err
	}
	out.Metrics = window.Summary()
	out.MLPerf = asked(p.MLPerf, issue)
	out.Inside = asked(p.Inside, inside)
	out.Cell = asked(p.Cell, cell)
	out.PromptTokens, out.Warmup = prompts.median(), before.warmup()
	return out, nil
}

// Judged is what a verdict looks at: the figures of the window, and of a decode cell the gaps of all its streams, which its end cuts off
// before most of them are ok.
func (r Reading) Judged() metrics.Summary {
	s := r.Metrics
	if r.Cell != nil {
		s.ITLMS = r.Cell.ITLMS
	}
	return s
}

// Tell writes what the recording tells of its client into c.
func (r Reading) Tell(c *metrics.Client) {
	c.Events, c.SharedReads, c.Retries = r.Counts.Events, r.Counts.SharedReads, r.Counts.Retries
	r.Refills.Tell(c)
}

func asked(want bool, c *metrics.Collector) *metrics.Summary {
	if !want {
		return nil
	}
	s := c.Summary()
	return &s
}

// count follows how requests ended.
func (r *Reading) count(q *record.Request) {
	r.OutputTokens += max(0, q.OutputTokens)
	switch q.Outcome {
	case record.OK:
	case record.Reset, record.Refused, record.Truncated:
		r.Broken++
		r.Unfinished++
	default:
		r.Unfinished++
	}
	if q.Warmup {
		return
	}
	if q.Outcome != record.OK && q.Outcome != record.Censored {
		r.Said.add(q)
	}
	r.TokenSource = record.Weakest(r.TokenSource, q.TokenSource)
}
