package field

import (
	"context"
	"net"
	"testing"
	"time"

	"assay/plan"
	"assay/runner/record"
	"assay/sim"
)

// badKinds are the simulated engine's faults that spoil a request, and what it must be called; all its other faults are only odd.
func badKinds() map[sim.FaultKind]record.Outcome {
	return map[sim.FaultKind]record.Outcome{
		sim.Reject: record.HTTPStatus, sim.Status: record.HTTPStatus, sim.Hangup: record.Reset, sim.Whole: record.BadResponse, sim.Page: record.BadResponse,
		sim.ErrorFrame: record.ErrorFrame, sim.ErrorObject: record.ErrorFrame, sim.ErrorText: record.ErrorFrame, sim.ErrorEvent: record.ErrorFrame,
		sim.Garbage: record.BadResponse, sim.Cut: record.Truncated, sim.Reset: record.Reset, sim.Truncate: record.Truncated, sim.Abort: record.Aborted,
		sim.Stall: record.Stalled,
	}
}

// simulated serves the simulated engine until the test ends.
func simulated(t *testing.T, f sim.Fault) (*sim.Server, string) {
	t.Helper()
	s := sim.New(sim.Config{Model: "m", Faults: []sim.Fault{f}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s, "http://" + l.Addr().String()
}

// TestEveryFaultOfTheEngine meets each fault that the simulated engine knows, on every fourth request: it lands in its outcome, the
// others are whole, and the tokens are those of the engine's own log.
func TestEveryFaultOfTheEngine(t *testing.T) {
	t.Parallel()
	for _, info := range sim.Faults() {
		if info.Kind == sim.Die {
			continue // TestServerDiesAndComesBack
		}
		t.Run(string(info.Kind), func(t *testing.T) {
			t.Parallel()
			f := sim.Fault{Kind: info.Kind, Every: 4, Amount: info.Amount, Delay: info.Delay}
			if info.AtToken {
				f.AtToken = 2
			}
			want, bad := badKinds()[info.Kind]
			if want == record.Stalled {
				f.Delay = hang
			}
			engine, url := simulated(t, f)
			s := newServer(t, nil)
			s.url = url
			m := sweep(t, s, 3, 10, stallsAfter(want), func(j *job) {
				j.Plan.Server.Engine = "sim"
				j.Plan.Workload.Sampling = plan.Sampling{MaxTokens: 12, IgnoreEOS: true}
			})
			holdAgainst(t, m, truthOf(t, engine, len(m.rec.Requests)), want, bad)
		})
	}
}

// truthOf waits until the engine has logged as many requests: one whose client went ends there a moment later than here.
func truthOf(t *testing.T, engine *sim.Server, requests int) []sim.Truth {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	late := time.After(hang)
	for {
		truth := engine.Truth()
		if len(truth) >= requests {
			return truth
		}
		select {
		case <-tick.C:
		case <-late:
			t.Errorf("the engine logged %d of %d requests", len(truth), requests)
			return truth
		}
	}
}

func holdAgainst(t *testing.T, m measured, truth []sim.Truth, want record.Outcome, bad bool) {
	t.Helper()
	struck, byID := 0, map[string]sim.Truth{}
	for _, x := range truth {
		byID[x.ID] = x
		if len(x.Faults) > 0 {
			struck++
		}
	}
	spoiled := 0
	if bad {
		spoiled = struck
	}
	if n := m.outcomes(); struck == 0 || n[want] != spoiled && bad || n[record.OK] != len(m.all)-spoiled {
		t.Errorf("%v of %d; the engine struck %d", n, len(m.all), struck)
	}
	for _, r := range m.all {
		x, known := byID[r.ID]
		if r.Outcome != record.OK || !known {
			continue
		}
		told := int64(x.Told)
		if x.Told < 0 {
			told = int64(len(r.Events))
		}
		if r.OutputTokens != told || r.InputTokens > 0 && r.InputTokens != int64(x.InputTokens) {
			t.Errorf("%d tokens in and %d out; the engine told %d and %d", r.InputTokens, r.OutputTokens, x.InputTokens, x.Told)
		}
	}
}
