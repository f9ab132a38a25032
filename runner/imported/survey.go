package imported

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/fault"
	"assay/plan"
	"assay/runner/metrics"
	"assay/runner/record"
)

// Bounds of an import.
const (
	maxEvents = 2_000_000_000 // token events
	maxPoints = 10_000
	maxName   = 200 // bytes of a name that a tool wrote
)

// Found is what the first reading of a source gave.
type Found struct {
	Format   Format
	Source   Source
	Report   Report
	Kept     string   // folder of the files, relative to the run's folder
	Spans    []Span   // of the report's points
	Warnings []string // where its files hold what looks like a secret, or no numbers
}

// Span is when a point's requests were under way, on the tool's clock, and the window that its figures are of.
type Span struct {
	Requests int // measured ones
	All      int // warm-up too
	StartUS  int64
	EndUS    int64
	EpochUS  int64          // UTC instant of StartUS; where the tool's clock has no date, the file's stands for the end
	Issue    metrics.Window // from the first measured issue to the last end of one, since StartUS
	Window   metrics.Window // a part of it
	Rate     float64        // measured requests begun in a second, from the first to the last; 0 when that is no time
}

// Survey reads a source for the first time.
func Survey(f Format, src Source) (Found, error) {
	s := survey{points: map[int]*extent{}}
	report, err := f.Read(src, s.add)
	if err != nil {
		return Found{}, err
	}
	if len(report.Points) == 0 {
		return Found{}, fault.New(fault.Plan, "import_empty", "give the result of a run that measured something", "%s holds no measurement", src.Given)
	}
	if n := len(report.Points); n > maxPoints {
		return Found{}, fault.New(fault.Plan, "import_too_large", "import a part of it", "%s holds %d measurements, %d are allowed", src.Given, n, maxPoints)
	}
	for _, name := range []*string{&report.Model, &report.Version, &report.URL, &report.Endpoint} {
		clip(name)
	}
	keys, err := src.Secrets()
	if err != nil {
		return Found{}, err
	}
	none, err := src.NoNumbers()
	if err != nil {
		return Found{}, err
	}
	found := Found{Format: f, Source: src, Report: report, Kept: Folder, Warnings: append(none, keys...)}
	used := map[string]bool{}
	for i := range report.Points {
		p := &report.Points[i]
		name(&p.Setting, used)
		span := s.points[i].span(p.Setting.Concurrency)
		if span.EpochUS = span.StartUS; !report.Wall {
			span.EpochUS = src.Changed(p.File) - (span.EndUS - span.StartUS)
		}
		found.Spans = append(found.Spans, span)
		if n := p.Told.Issued; n != nil && span.Requests > 0 {
			p.Unknown.Some = span.Requests < *n && span.All != *n // else its count holds the warm-up
		}
	}
	return found, nil
}

// name gives a point its id and phase by its setting.
func name(p *plan.Point, used map[string]bool) {
	switch {
	case p.Phase == plan.PhasePrefill:
		p.ID = fmt.Sprintf("prefill-%d", p.Context)
	case p.Phase == plan.PhaseDecode:
		p.ID = fmt.Sprintf("decode-%dx%d", p.Context, p.Concurrency)
	case p.Rate > 0:
		p.ID, p.Phase = fmt.Sprintf("r%g", p.Rate), plan.PhaseServe
		p.Concurrency = 0 // a bound of the open loop, not a load that is held
	case p.Concurrency > 0:
		p.ID, p.Phase = fmt.Sprintf("c%d", p.Concurrency), plan.PhaseSweep
	default:
		p.ID, p.Phase = "all", plan.PhaseServe
	}
	p.ID = strings.NewReplacer("+", "", "/", "-").Replace(p.ID)
	id := p.ID
	for n := 2; used[p.ID]; n++ {
		p.ID = fmt.Sprintf("%s-%d", id, n)
	}
	used[p.ID] = true
}

// survey follows where the requests of each point begin and end.
type survey struct {
	points map[int]*extent
	events int64
}

type extent struct {
	starts, ends []int64 // of the measured requests
	from, to     int64   // of all
	all          int
}

func (s *survey) add(point int, q record.Request) error {
	if s.events += int64(len(q.Events)); s.events > maxEvents {
		return fault.New(fault.Plan, "import_too_large", "import a shorter run", "there are more than %d token events", int64(maxEvents))
	}
	e := s.points[point]
	if e == nil {
		e = &extent{from: math.MaxInt64, to: math.MinInt64}
		s.points[point] = e
	}
	return e.add(q)
}

// mostUS is how far a time can be from 1970: the year 2286.
const mostUS = 1e16

func (e *extent) add(q record.Request) error {
	times := []int64{q.SentUS, q.DoneUS, q.IntendedUS, q.FirstByteUS}
	if n := len(q.Events); n > 0 {
		times = append(times, q.Events[0].AtUS, q.Events[n-1].AtUS)
	}
	from, to := int64(math.MaxInt64), int64(math.MinInt64)
	for _, t := range times {
		if t == record.Never {
			continue
		}
		if t < -mostUS || t > mostUS {
			return fault.New(fault.Plan, "import_unit", "give the file as the tool wrote it", "a time of a request is %d µs, which is none", t)
		}
		from, to = min(from, t), max(to, t)
	}
	if from > to {
		return nil
	}
	e.from, e.to = min(e.from, from), max(e.to, to)
	if e.all++; q.Warmup || q.SentUS == record.Never {
		return nil
	}
	e.starts, e.ends = append(e.starts, q.SentUS), append(e.ends, max(to, q.SentUS))
	return nil
}

// span says when the point was, and its window: of a closed loop from the moment all its slots are busy to its last issue, as for a
// sweep of assay's own; else the whole. A loop that never had all slots busy counts from the issue that would have filled the last.
func (e *extent) span(slots int) Span {
	if e == nil || len(e.starts) == 0 {
		return Span{}
	}
	s := Span{Requests: len(e.starts), All: e.all, StartUS: e.from, EndUS: e.to}
	slices.Sort(e.starts)
	slices.Sort(e.ends)
	s.Issue = metrics.Window{StartUS: e.starts[0] - e.from, EndUS: e.ends[len(e.ends)-1] - e.from + 1}
	s.Window = s.Issue
	if first, last := e.starts[0], e.starts[len(e.starts)-1]; last > first {
		s.Rate = float64(len(e.starts)-1) / (float64(last-first) / 1e6)
	}
	if slots > 0 && len(e.starts) > slots {
		s.Window = metrics.Window{StartUS: e.full(slots) - e.from, EndUS: e.starts[len(e.starts)-1] - e.from}
	}
	return s
}

// full is the first instant at which so many requests are in flight.
func (e *extent) full(slots int) int64 {
	ended := 0
	for i, start := range e.starts {
		for ended < len(e.ends) && e.ends[ended] <= start {
			ended++
		}
		if i+1-ended >= slots {
			return start
		}
	}
	return e.starts[slots-1]
}

// clip cuts a name to what fits, and makes what would act on a terminal visible.
func clip(name *string) { *name = fitting(fault.Printable(fitting(*name))) }

func fitting(name string) string {
	if len(name) <= maxName {
		return name
	}
	return strings.ToValidUTF8(name[:maxName], "")
}
