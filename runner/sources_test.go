package runner

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"assay/plan"
	"assay/runner/record"
)

// quiet is a server that tells token counts at the end of a stream, or not at all.
func quiet(final bool) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 3 {
			fmt.Fprintf(w, "data: {\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" t%d\"},\"finish_reason\":null}]}\n\n", i)
		}
		fmt.Fprint(w, "data: {\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n")
		if final {
			fmt.Fprint(w, "data: {\"id\":\"x\",\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":6}}\n\n")
		}
		fmt.Fprint(w, "data: [DONE]\n\n")
	}
}

// TestPointsSayHowTokensWereCounted: who reads figures made of guessed counts is told so at the point.
func TestPointsSayHowTokensWereCounted(t *testing.T) {
	for _, c := range []struct {
		name, source, want string
		server             http.Handler
	}{
		{"none", "events", "the server tells no token counts: each event counted as one token", quiet(false)},
		{"final", "estimated", "even share of the final usage", quiet(true)},
		{"continuous", "usage", "", &engine{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := httptest.NewServer(c.server)
			defer s.Close()
			m, _ := run(t, job(t, s.URL, plan.Plan{Protocol: plan.Protocol{Sweep: &plan.Sweep{Requests: 4}}}, plan.Point{ID: "c1", Phase: "sweep", Concurrency: 1}))
			said := slices.ContainsFunc(m.Notes, func(n string) bool { return strings.Contains(n, cmp.Or(c.want, "token")) })
			if m.Client.TokenSource != c.source || said != (c.want != "") {
				t.Errorf("source %q, notes %q", m.Client.TokenSource, m.Notes)
			}
		})
	}
}

// TestCutOffRequestsAreNotTheServersSilence: a server that tells counts is not said to tell none.
func TestCutOffRequestsAreNotTheServersSilence(t *testing.T) {
	var s sources
	keep := s.watching(func(record.Request) error { return nil })
	for _, r := range []record.Request{{TokenSource: "usage"}, {TokenSource: "events"}, {TokenSource: "events", Warmup: true}, {}} {
		if err := keep(r); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.notes(); len(got) != 1 || !strings.HasPrefix(got[0], "1 of 2 requests") {
		t.Errorf("%q", got)
	}
}

// TestHiddenReasoningIsSaid: how many answers hid how many tokens; what was streamed hides nothing.
func TestHiddenReasoningIsSaid(t *testing.T) {
	var s sources
	keep := s.watching(func(record.Request) error { return nil })
	for _, r := range []record.Request{
		{TokenSource: "usage", ReasoningTokens: 30}, {TokenSource: "usage", ReasoningTokens: 12}, {TokenSource: "usage", ReasoningTokens: 9, FirstAnswer: 4},
		{TokenSource: "usage", ReasoningTokens: 7, FirstAnswer: -1}, {TokenSource: "usage", ReasoningTokens: 99, Warmup: true}, {TokenSource: "usage"},
	} {
		if err := keep(r); err != nil {
			t.Fatal(err)
		}
	}
	if notes := s.notes(); len(notes) != 1 || !strings.HasPrefix(notes[0], "2 answers hid 42 reasoning tokens") {
		t.Errorf("%q", notes)
	}
}

// TestWhatAnEngineLacksIsSaid: answers of an exact length were asked for, and this kind of server knows no such thing.
func TestWhatAnEngineLacksIsSaid(t *testing.T) {
	s := httptest.NewServer(quiet(true))
	defer s.Close()
	p := plan.Plan{Server: plan.Server{Engine: "tgi"}, Protocol: plan.Protocol{Sweep: &plan.Sweep{Requests: 2}}}
	p.Workload.Sampling.IgnoreEOS = true
	m, _ := run(t, job(t, s.URL, p, plan.Point{ID: "c1", Phase: "sweep", Concurrency: 1}))
	if !slices.ContainsFunc(m.Notes, func(n string) bool { return strings.Contains(n, "engine tgi has no ignore_eos") }) {
		t.Errorf("notes %q", m.Notes)
	}
}
