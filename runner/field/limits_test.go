package field

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"assay/plan"
	"assay/runner"
	"assay/runner/record"
)

// Limits of a run: its length, its drain, the silence it bears, and Ctrl-C.

// endless streams a token every 5 ms until the client goes.
const framed = "4e\r\n" + oneToken + "\r\n"

func endless(a *reply) {
	a.head()
	a.role()
	for a.down(5 * time.Millisecond) {
		a.tokens++
		if _, err := io.WriteString(a.c, framed); err != nil {
			return
		}
	}
}

// down waits and says whether the test still goes on.
func (a *reply) down(d time.Duration) bool {
	a.wait(d)
	select {
	case <-a.server.down:
		return false
	default:
		return true
	}
}

// silent never says anything.
func silent(a *reply) { a.until(a.server.down) }

// The length of a point holds whatever the server does: issue stops at its instant, the drain cuts the rest off, and the
// result says how many.
func TestRunLengthHolds(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]func(*reply){"endless streams": endless, "silence": silent, "503": func(a *reply) { a.status(503, "Retry-After: 100\r\n", "") }} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, script)
			p := closedPlan(plan.Sweep{Duration: ms(3000)}) // long enough for three requests, and their answers, on a busy machine
			m := run(t, s, p, closedPoint(3), func(j *job) { j.Plan.Client.Drain = ms(1000) })
			if length := m.Window.EndUS - m.Window.StartUS; length != 3_000_000 || m.Stopped != "" {
				t.Errorf("a window of %d µs, want 3,000,000; stopped: %q", length, m.Stopped)
			}
			want := record.Censored
			if name == "503" {
				want = record.HTTPStatus
			}
			if n := m.outcomes(); n[want] != 3 || len(m.all) != 3 || want == record.Censored && (m.sum.Censored < 1 || !m.has("censored")) {
				t.Errorf("%v; %d censored, reasons %v", n, m.sum.Censored, m.reasons)
			}
			for _, r := range m.all {
				if name == "endless streams" && r.DoneUS < m.Window.EndUS {
					t.Errorf("%d events, done at %d, the window ends at %d", len(r.Events), r.DoneUS, m.Window.EndUS)
				}
			}
		})
	}
}

// A request's own limit ends it as timeout, though bytes go on coming; the stall limit ends a silent one, and the slot goes on.
func TestRequestLimitsHold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		script         func(*reply)
		timeout, stall plan.Duration // on a busy machine a good answer takes its time too
		want           record.Outcome
	}{{endless, ms(4000), plan.Duration(hang), record.Timeout}, {silent, ms(6000), ms(4000), record.Stalled}} {
		t.Run(string(c.want), func(t *testing.T) {
			t.Parallel()
			s := newServer(t, func(a *reply) {
				if a.n < 2 {
					c.script(a)
					return
				}
				a.good(1)
			})
			m := sweep(t, s, 2, 8, func(j *job) { j.Plan.Client.Timeout, j.Plan.Client.StallTimeout = c.timeout, c.stall })
			if n := m.outcomes(); n[c.want] != 2 || n[record.OK] != len(m.all)-2 {
				t.Errorf("%v", n)
			}
		})
	}
}

var errInterrupt = errors.New("interrupted")

// interrupted runs a job, cancels it as soon as the server has seen n requests and the client so many failures, and bounds the
// time until it is back.
func interrupted(t *testing.T, s *server, n, failed int, p plan.Plan, point plan.Point) measured {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	var at time.Time
	script, seen := s.script, newGate(n)
	s.script = func(a *reply) {
		seen.arrive()
		script(a)
	}
	m := measure(t, ctx, newJob(t, s, p, point), func(p runner.Progress) {
		select {
		case <-seen.open:
			if p.Failed >= failed && at.IsZero() {
				at = time.Now()
				cancel(errInterrupt)
			}
		default:
		}
	})
	<-ctx.Done()
	if took := time.Since(at); took > 30*time.Second {
		t.Errorf("it took %v from the interrupt to the end", took)
	}
	if !errors.Is(m.err, errInterrupt) {
		t.Errorf("the point ended with %v", m.err)
	}
	return m
}

// Ctrl-C ends a load in whatever state within 5 s, and what was measured until then is on disk.
func TestInterruptDrains(t *testing.T) {
	t.Parallel()
	forever := closedPlan(plan.Sweep{Duration: plan.Duration(time.Hour)})
	for name, c := range map[string]struct {
		script       func(*reply)
		seen, failed int
		want         record.Outcome
	}{
		"streams":                 {endless, 4, 0, record.Aborted},
		"silence":                 {silent, 4, 0, record.Aborted},
		"waits for a Retry-After": {func(a *reply) { a.status(429, "Retry-After: 250\r\n", "") }, 4, 4, record.HTTPStatus},
		"failures":                {func(a *reply) { a.status(500, "", "x") }, 9, 9, record.HTTPStatus},
		"a half line of 1 MB":     {func(a *reply) { a.head(); a.chunk("data: " + strings.Repeat("x", 1<<20)); silent(a) }, 4, 0, record.Aborted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := interrupted(t, newServer(t, c.script), c.seen, c.failed, forever, closedPoint(4))
			// one more may have been on its way
			if n := m.outcomes(); n[c.want] < c.seen || n[c.want]+n[record.Aborted]+n[record.Dropped] < len(m.all) || m.rec.Torn {
				t.Errorf("%v; %d requests seen", n, c.seen)
			}
		})
	}
}

// In an open loop what waited for its turn is dropped, and is listed.
func TestInterruptDrainsAnOpenLoop(t *testing.T) {
	t.Parallel()
	p := plan.Plan{Protocol: plan.Protocol{Serve: &plan.Serve{Arrival: "constant", Duration: plan.Duration(time.Hour), MaxConcurrency: 3}}}
	s := newServer(t, silent)
	m := interrupted(t, s, 3, 0, p, plan.Point{ID: "r1", Phase: plan.PhaseServe, Rate: 2000})
	if n := m.outcomes(); n[record.Aborted] != 3 || n[record.Aborted]+n[record.Dropped] != len(m.all) {
		t.Errorf("%v", n)
	}
}

// Waits spread over several settings left it open which applied, and ^C in the drain hung → one drain limit; an interrupt in
// the drain ends it at once.
func TestField_mlperfPR409_InterruptInTheDrain(t *testing.T) {
	t.Parallel()
	s := newServer(t, endless)
	ctx, cancel := context.WithCancelCause(t.Context())
	j := newJob(t, s, closedPlan(plan.Sweep{Duration: ms(2000)}), closedPoint(2), func(j *job) { j.Plan.Client.Drain = plan.Duration(time.Hour) })
	m := measure(t, ctx, j, func(p runner.Progress) {
		if p.Stage == "drain" {
			cancel(errInterrupt)
		}
	})
	if n := m.outcomes(); !errors.Is(m.err, errInterrupt) || n[record.Aborted] != 2 || len(m.all) != 2 || m.Window.EndUS-m.Window.StartUS != 2_000_000 {
		t.Errorf("%v; %v; window %v", m.err, n, m.Window)
	}
}

// A server that went silent with streams open held the run to its overall limit → each stream has a stall limit, set back by
// every byte; the run ends by itself and says why.
func TestField_mlperfPR462_SilentServer(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) {
		a.head()
		for range 4 { // longer than the limit in all, never without a byte for that long
			a.wait(900 * time.Millisecond)
			a.token(1)
		}
		if a.n == 0 {
			a.until(a.server.down)
		}
		a.close("stop")
	})
	m := sweep(t, s, 1, 2, func(j *job) { j.Plan.Client.StallTimeout = ms(3000) })
	if len(m.all) != 2 || m.all[0].Outcome != record.Stalled || len(m.all[0].Events) != 4 || m.all[1].Outcome != record.OK {
		t.Errorf("%d requests: %v", len(m.all), m.outcomes())
	}
	if r := m.all[0]; r.DoneUS-r.Events[3].AtUS < 3_000_000 {
		t.Errorf("stalled %d µs after its last byte, the limit is 3,000,000", r.DoneUS-r.Events[3].AtUS)
	}
}

// Nor does a port where nobody listens hold an interrupt up: the slots wait for their next try.
func TestInterruptWhileRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	s.url = refusing(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	var at time.Time
	j := newJob(t, s, closedPlan(plan.Sweep{Duration: plan.Duration(time.Hour)}), closedPoint(4))
	m := measure(t, ctx, j, func(p runner.Progress) {
		if p.Failed >= 8 && at.IsZero() {
			at = time.Now()
			cancel(errInterrupt)
		}
	})
	if took := time.Since(at); !errors.Is(m.err, errInterrupt) || took > 30*time.Second {
		t.Errorf("%v, %v after the interrupt", m.err, took)
	}
	if n := m.outcomes(); n[record.Refused] < 8 || n[record.Refused]+n[record.Dropped] != len(m.all) {
		t.Errorf("%v", n)
	}
}
