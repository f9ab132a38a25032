package store

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/fault"
	"assay/result"
	"assay/runner/metrics"
)

func TestNewRunID(t *testing.T) {
	zone := time.FixedZone("east", 2*3600)
	id := NewRunID(time.Date(2026, 12, 1, 1, 1, 25, 999, zone))
	if !regexp.MustCompile(`^20261130T230125-[0-9a-z]{6}$`).MatchString(id) {
		t.Errorf("id %q", id)
	}
	if !isID(id) || !isID(NewScheduleID()) {
		t.Error("a new id is not accepted")
	}
	later := NewRunID(time.Date(2026, 12, 1, 1, 1, 26, 0, zone))
	if later <= id {
		t.Errorf("%s does not sort after %s", later, id)
	}
	seen := map[string]bool{}
	for range 1000 {
		seen[NewRunID(time.Unix(0, 0))] = true
	}
	if len(seen) < 999 {
		t.Errorf("%d ids of 1000 differ", len(seen))
	}
}

func TestRunReadsBackWhole(t *testing.T) {
	s := openStore(t)
	want := Run{ID: "20261130T230125-aaaaaa", Name: "näme", State: result.Queued, Plan: []byte(`{"b": 1,"a":"<&>"}`), PlanSHA256: "ab",
		Source: "api", Key: "k1", CreatedUS: 1764543685000001, Points: 3, Reasons: []result.Reason{}}
	if err := s.CreateRun(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	got, err := s.Run(t.Context(), want.ID)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "run", got, want)
	byKey, err := s.RunByKey(t.Context(), "k1")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "run by key", byKey, want)
	if info, err := os.Stat(s.RunDir(want.ID)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder of the run: %v, %v", info, err)
	}
}

func TestCreateRunRefuses(t *testing.T) {
	s := openStore(t)
	base := Run{ID: "r1", Plan: []byte("{}"), PlanSHA256: "aa", Key: "k"}
	if err := s.CreateRun(t.Context(), base); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		run  Run
		want error
	}{
		{"same key, same plan", Run{ID: "r2", PlanSHA256: "aa", Key: "k"}, ErrExists},
		{"same key, other plan", Run{ID: "r2", PlanSHA256: "bb", Key: "k"}, ErrConflict},
		{"same id", Run{ID: "r1", PlanSHA256: "aa"}, ErrConflict},
	}
	for _, tt := range tests {
		if err := s.CreateRun(t.Context(), tt.run); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
	for _, id := range []string{"", "..", "a/b", "../x", "-x", ".hidden", "a b", strings.Repeat("x", 65)} {
		if err := s.CreateRun(t.Context(), Run{ID: id}); err == nil {
			t.Errorf("id %q was accepted", id)
		}
	}
	if _, err := s.Run(t.Context(), "r2"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a refused run is there: %v", err)
	}
	for _, id := range []string{"r3", "r4"} { // no key is not a key
		if err := s.CreateRun(t.Context(), Run{ID: id}); err != nil {
			t.Errorf("run without key: %v", err)
		}
	}
}

func TestMoves(t *testing.T) {
	all := []result.State{result.Queued, result.Running, result.Done, result.Failed, result.Interrupted, result.Canceled}
	allowed := map[result.State][]result.State{
		result.Queued:  {result.Running, result.Canceled},
		result.Running: {result.Done, result.Failed, result.Interrupted, result.Canceled},
	}
	resumed := map[result.State][]result.State{
		result.Queued:      allowed[result.Queued],
		result.Running:     allowed[result.Running],
		result.Interrupted: {result.Queued, result.Running},
		result.Failed:      {result.Queued, result.Running},
		result.Canceled:    {result.Queued, result.Running},
	}
	s := openStore(t)
	for _, resume := range []bool{false, true} {
		table := allowed
		if resume {
			table = resumed
		}
		for _, from := range all {
			for _, to := range all {
				id := fmt.Sprintf("%s-%s-%v", from, to, resume)
				addRun(t, s, id, from)
				err := s.MoveRun(t.Context(), id, to, RunChange{AtUS: 3000, Resume: resume})
				after, _ := s.Run(t.Context(), id)
				if slices.Contains(table[from], to) {
					if err != nil || after.State != to {
						t.Errorf("%s: %v, state %s", id, err, after.State)
					}
				} else if !errors.Is(err, ErrConflict) || after.State != from {
					t.Errorf("%s: error %v, state %s; want a conflict and no change", id, err, after.State)
				}
			}
		}
	}
	if err := s.MoveRun(t.Context(), "nobody", result.Running, RunChange{}); !errors.Is(err, ErrNotFound) {
		t.Errorf("move of a run that is not there: %v", err)
	}
}

func TestMoveWritesTimesAndReasons(t *testing.T) {
	s := openStore(t)
	addRun(t, s, "r1", result.Queued)
	move := func(to result.State, c RunChange) Run {
		t.Helper()
		if err := s.MoveRun(t.Context(), "r1", to, c); err != nil {
			t.Fatal(err)
		}
		r, err := s.Run(t.Context(), "r1")
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := move(result.Running, RunChange{AtUS: 10}); r.StartedUS != 10 || r.EndedUS != 0 {
		t.Errorf("started: %+v", r)
	}
	failure := &fault.Fault{Layer: fault.Image, Code: "image.not_found", Text: "no", Hint: "pull"}
	reasons := []result.Reason{{Code: "drift", Text: "cap changed", Evidence: "700 → 500"}}
	r := move(result.Failed, RunChange{AtUS: 20, Verdict: result.NotValid, Reasons: reasons, Error: failure})
	if r.StartedUS != 10 || r.EndedUS != 20 || r.Verdict != result.NotValid {
		t.Errorf("ended: %+v", r)
	}
	equal(t, "error", r.Error, failure)
	equal(t, "reasons", r.Reasons, reasons)
	if r := move(result.Running, RunChange{AtUS: 30, Resume: true}); r.StartedUS != 10 || r.EndedUS != 0 || r.Error != nil || r.Verdict != "" || len(r.Reasons) != 0 {
		t.Errorf("a resume keeps the first start and clears the end: %+v", r)
	}
}

func TestFindRun(t *testing.T) {
	s := openStore(t)
	if _, err := s.FindRun(t.Context(), "last"); !errors.Is(err, ErrNotFound) {
		t.Errorf("last of none: %v", err)
	}
	for i, id := range []string{"20261130T230125-aaaaaa", "20261130T230125-ab", "20261130T230125-abcdef", "2026%30", "20270101T000000-zzzzzz"} {
		if err := s.CreateRun(t.Context(), Run{ID: strings.ReplaceAll(id, "%", "_"), CreatedUS: int64(i)}); err != nil {
			t.Fatal(err)
		}
	}
	found := map[string]string{
		"last":                  "20270101T000000-zzzzzz",
		"2027":                  "20270101T000000-zzzzzz",
		"20261130T230125-aa":    "20261130T230125-aaaaaa",
		"20261130T230125-ab":    "20261130T230125-ab", // an id wins over being a prefix
		"20261130T230125-abc":   "20261130T230125-abcdef",
		"2026_":                 "2026_30", // no pattern
		"20270101T000000-zzzzz": "20270101T000000-zzzzzz",
	}
	for ref, want := range found {
		if r, err := s.FindRun(t.Context(), ref); err != nil || r.ID != want {
			t.Errorf("%q found %q, %v; want %q", ref, r.ID, err, want)
		}
	}
	for _, ref := range []string{"", "x", "2028", "%", "20261130T230125-aaaaaab"} {
		_, err := s.FindRun(t.Context(), ref)
		wantFault(t, err, "no_run")
	}
	_, err := s.FindRun(t.Context(), "20261130")
	wantFault(t, err, "ambiguous_run")
	if hint := fault.Of(err, fault.Store).Hint; !strings.Contains(hint, "20261130T230125-abcdef, 20261130T230125-ab, 20261130T230125-aaaaaa") {
		t.Errorf("the hint does not list the candidates, newest first: %s", hint)
	}
}

func TestAmbiguousRunNamesAFew(t *testing.T) {
	s := openStore(t)
	for i := range candidates + 5 {
		addRun(t, s, fmt.Sprintf("x%02d", i), result.Queued)
	}
	_, err := s.FindRun(t.Context(), "x")
	hint := fault.Of(err, fault.Store).Hint
	if strings.Count(hint, "x") != candidates || !strings.HasSuffix(hint, "…") {
		t.Errorf("hint %q", hint)
	}
}

func TestRunsPages(t *testing.T) {
	s := openStore(t)
	var want []string
	for i := range 7 {
		id := fmt.Sprintf("r%d", i)
		if err := s.CreateRun(t.Context(), Run{ID: id, CreatedUS: int64(i / 3)}); err != nil { // equal times page by id
			t.Fatal(err)
		}
		want = append([]string{id}, want...)
	}
	var got []string
	f := Filter{Limit: 2}
	for page := 0; ; page++ {
		runs, next, err := s.Runs(t.Context(), f)
		if err != nil || page > 4 {
			t.Fatal(err, page)
		}
		for _, r := range runs {
			got = append(got, r.ID)
		}
		if page == 0 { // a run that comes while one pages does not move the pages
			if err := s.CreateRun(t.Context(), Run{ID: "new", CreatedUS: 99}); err != nil {
				t.Fatal(err)
			}
		}
		if next == "" {
			break
		}
		f.Cursor = next
	}
	equal(t, "pages", got, want)

	if err := s.MoveRun(t.Context(), "r3", result.Canceled, RunChange{}); err != nil {
		t.Fatal(err)
	}
	runs, next, err := s.Runs(t.Context(), Filter{State: result.Canceled})
	if err != nil || next != "" || len(runs) != 1 || runs[0].ID != "r3" {
		t.Errorf("canceled: %v, %q, %v", runs, next, err)
	}
	for _, bad := range []string{"!", "MTI", "YSxi", "MSw"} {
		_, _, err := s.Runs(t.Context(), Filter{Cursor: bad})
		wantFault(t, err, "bad_cursor")
	}
}

func TestQueue(t *testing.T) {
	s := openStore(t)
	if _, ok, err := s.NextQueued(t.Context()); ok || err != nil {
		t.Errorf("empty queue: %v, %v", ok, err)
	}
	for i, id := range []string{"c", "b", "a"} {
		if err := s.CreateRun(t.Context(), Run{ID: id, CreatedUS: int64(i)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"c", "b", "a"} {
		r, ok, err := s.NextQueued(t.Context())
		if !ok || err != nil || r.ID != want {
			t.Fatalf("next %q, %v, %v; want %q", r.ID, ok, err, want)
		}
		if err := s.MoveRun(t.Context(), want, result.Running, RunChange{AtUS: 1}); err != nil {
			t.Fatal(err)
		}
	}
	running, err := s.Running(t.Context())
	if err != nil || len(running) != 3 || running[0].ID != "c" {
		t.Errorf("running: %v, %v", running, err)
	}
}

func summary(tps, ttftP90 float64) *metrics.Summary {
	perUser := tps / 4
	return &metrics.Summary{Outcomes: map[string]int{"ok": 3}, SystemTPS: &tps, TPSPerUser: &perUser, TTFTMS: &metrics.Distribution{P90: ttftP90, N: 3}}
}

func point(id string, s *metrics.Summary) result.Point {
	four := 4
	return result.Point{ID: id, Phase: "sweep", Concurrency: &four, State: result.PointValid, Reasons: []result.Reason{}, Metrics: s}
}

func TestPoints(t *testing.T) {
	s := openStore(t)
	addRun(t, s, "r1", result.Running)
	put := func(index int, p result.Point) {
		t.Helper()
		if err := s.PutPoint(t.Context(), "r1", index, p); err != nil {
			t.Fatal(err)
		}
	}
	skipped := point("c2", nil)
	skipped.State = result.PointSkipped
	put(2, point("c4", summary(400, 9)))
	put(0, point("c1", summary(900, 5)))
	put(1, skipped)
	put(0, point("c1", summary(100, 7.5))) // measured again
	got, err := s.Points(t.Context(), "r1")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "points", got, []result.Point{point("c1", summary(100, 7.5)), skipped, point("c4", summary(400, 9))})

	r, _ := s.Run(t.Context(), "r1")
	if r.PointsDone != 2 || r.BestPoint != "c4" || r.BestTPS == nil || *r.BestTPS != 400 {
		t.Errorf("figures of the run: %+v", r)
	}
	var tps, perUser, p90 float64
	row := s.read.QueryRow(`SELECT system_tps, tps_per_user, ttft_p90_ms FROM points WHERE id = 'c1'`)
	if err := row.Scan(&tps, &perUser, &p90); err != nil || tps != 100 || perUser != 25 || p90 != 7.5 {
		t.Errorf("columns: %v %v %v, %v", tps, perUser, p90, err)
	}
	wantFault(t, s.PutPoint(t.Context(), "nobody", 0, point("c1", nil)), "no_run")
	if err := s.PutPoint(t.Context(), "r1", 5, point("c1", nil)); err == nil {
		t.Error("one point is stored at two places")
	}
}

func TestPhases(t *testing.T) {
	s := openStore(t)
	addRun(t, s, "r1", result.Running)
	failure := fault.New(fault.Server, "exited", "see the log", "the server ended")
	failure.Cause = nil
	want := []result.Phase{
		{Name: "ready", StartedUS: 5, EndedUS: 6, Error: failure},
		{Name: "ready", StartedUS: 10, EndedUS: 11},
		{Name: "warmup", Point: "c1", StartedUS: 12, EndedUS: 12},
		{Name: "measure", Point: "c1", StartedUS: 12},
	}
	for _, p := range want {
		started := p
		started.EndedUS, started.Error = 0, nil
		for _, p := range []result.Phase{started, p} {
			if err := s.PutPhase(t.Context(), "r1", p); err != nil {
				t.Fatal(err)
			}
		}
	}
	got, err := s.Phases(t.Context(), "r1")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "phases", got, want)
	wantFault(t, s.PutPhase(t.Context(), "nobody", want[0]), "no_run")
}

func TestDocuments(t *testing.T) {
	s := openStore(t)
	addRun(t, s, "r1", result.Running)
	for _, body := range []string{`{"old":1}`, `{"b": 1, "a": [1]}`} {
		if err := s.PutDocument(t.Context(), "r1", SUTBefore, []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.Document(t.Context(), "r1", SUTBefore); err != nil || string(got) != `{"b": 1, "a": [1]}` {
		t.Errorf("document %s, %v", got, err)
	}
	if _, err := s.Document(t.Context(), "r1", SUTAfter); !errors.Is(err, ErrNotFound) {
		t.Errorf("document that is not there: %v", err)
	}
	if err := s.PutDocument(t.Context(), "r1", Checks, []byte(`{"torn":`)); err == nil {
		t.Error("torn JSON was stored")
	}
	wantFault(t, s.PutDocument(t.Context(), "nobody", Checks, []byte(`[]`)), "no_run")
}
