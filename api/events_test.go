package api

import (
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/result"
)

// next reads frames up to the next event.
func next(t *testing.T, read func() (frame, error)) frame {
	t.Helper()
	for {
		fr, err := read()
		if err != nil {
			t.Fatalf("the stream ended early: %v", err)
		}
		if fr.comment == "" {
			return fr
		}
	}
}

// wantEnd checks that the stream ends here.
func wantEnd(t *testing.T, read func() (frame, error)) {
	t.Helper()
	for {
		fr, err := read()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("the stream broke: %v", err)
		}
		if fr.comment == "" {
			t.Fatalf("after the end came %+v", fr)
		}
	}
}

// opened reads the comment that says the subscription stands.
func opened(t *testing.T, read func() (frame, error)) {
	t.Helper()
	if fr, err := read(); err != nil || fr.comment == "" {
		t.Fatalf("want the opening comment, got %+v, %v", fr, err)
	}
}

func TestRunEventsEndWithTheRun(t *testing.T) {
	f := newFixture(t)
	run, other := f.queueRun(), f.queueRun()
	read := f.follow("/api/v1/runs/" + run.ID + "/events")
	opened(t, read)
	f.ctl.publish(result.Event{Run: other.ID, Kind: result.RunStarted})
	f.ctl.publish(result.Event{Run: run.ID, Kind: result.PhaseStarted, Phase: "preflight"})
	f.ctl.publish(result.Event{Run: run.ID, Kind: result.RunEnded, State: result.Done, Verdict: result.Valid})
	var kinds []string
	for range 2 {
		kinds = append(kinds, next(t, read).event.Kind)
	}
	if diff := cmp.Diff([]string{result.PhaseStarted, result.RunEnded}, kinds); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	wantEnd(t, read)
}

func TestEventsResume(t *testing.T) {
	f := newFixture(t)
	run := f.queueRun()
	read := f.follow("/api/v1/events")
	opened(t, read)
	f.ctl.publish(result.Event{Run: run.ID, Kind: result.PhaseStarted, Phase: "pull"})
	last := next(t, read)
	f.ctl.cutAll() // as the daemon does with a reader that is too slow
	wantEnd(t, read)
	f.ctl.publish(result.Event{Run: run.ID, Kind: result.PhaseEnded, Phase: "pull"})
	f.ctl.publish(result.Event{Run: run.ID, Kind: result.PhaseStarted, Phase: "start"})

	for name, read := range map[string]func() (frame, error){
		"header": f.follow("/api/v1/events", "Last-Event-ID", last.id),
		"query":  f.follow("/api/v1/events?after=" + last.id),
	} {
		if a, b := next(t, read), next(t, read); a.event.Phase != "pull" || a.event.Kind != result.PhaseEnded || b.event.Phase != "start" {
			t.Errorf("%s: after the break came %+v, %+v", name, a.event, b.event)
		}
	}
}

func TestEventsOfAnEndedRun(t *testing.T) {
	f := newFixture(t)
	run := f.endedRun()
	read := f.follow("/api/v1/runs/" + run.ID + "/events")
	got := next(t, read)
	want := result.Event{AtUS: run.EndedUS, Run: run.ID, Kind: result.RunEnded, State: result.Done, Verdict: result.Valid}
	if diff := cmp.Diff(want, got.event); diff != "" || got.id != "" {
		t.Errorf("id %q, event (-want +got):\n%s", got.id, diff)
	}
	wantEnd(t, read)

	f.ctl.publish(result.Event{Run: run.ID, Kind: result.PointEnded, Point: "c2"})
	read = f.follow("/api/v1/runs/"+run.ID+"/events", "Last-Event-ID", "1")
	if e := next(t, read).event; e.Point != "c2" {
		t.Errorf("the missed event first, got %+v", e)
	}
	if e := next(t, read).event; e.Kind != result.RunEnded {
		t.Errorf("then the end, got %+v", e)
	}
	wantEnd(t, read)
}

func TestHeartbeatAndShutdown(t *testing.T) {
	f := newFixture(t)
	f.heartbeat = 5 * time.Millisecond
	read := f.follow("/api/v1/events")
	opened(t, read)
	if fr, err := read(); err != nil || fr.comment == "" {
		t.Fatalf("want a heartbeat, got %+v, %v", fr, err)
	}
	if err := f.http.Config.Shutdown(t.Context()); err != nil {
		t.Fatalf("shut down with a stream open: %v", err)
	}
	wantEnd(t, read)
	f.awaitSubscribers("end of the subscription", func(now, _ int) bool { return now == 0 })
}

func TestStreamIsNotCached(t *testing.T) {
	f := newFixture(t)
	res, err := f.client.Get(f.http.URL + "/api/v1/events")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	want := http.Header{"Cache-Control": {"no-store"}, "X-Accel-Buffering": {"no"}}
	for name := range want {
		if res.Header.Get(name) != want.Get(name) {
			t.Errorf("%s: %q, want %q", name, res.Header.Get(name), want.Get(name))
		}
	}
}
