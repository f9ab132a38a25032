package real

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/plan"
	"assay/runner"
	"assay/runner/record"
)

// common is what our client and the plan's words promise of every engine.
func common(t *testing.T, e *engine) {
	for _, endpoint := range []string{"chat", "completions"} {
		t.Run("counts of "+endpoint, func(t *testing.T) { e.countsAgree(t, endpoint) })
	}
	t.Run("exact lengths", e.lengthsAreExact)
	t.Run("prefix cache", e.cacheAgrees)
	t.Run("conversations", e.conversationsReuse)
	t.Run("matrix", e.matrixRuns)
	t.Run("time limit", e.abortFreesTheSlot)
	t.Run("interrupt", e.interruptDrains)
	t.Run("refusal", e.refusalIsNoResult)
}

// short are prompts of words, which need no asking of the server: every request it sees is in the recording.
func short(tokens int) string {
	return fmt.Sprintf("workload: {kind: synthetic, input_len: 16, lengths: words, seed: 3, sampling: {temperature: 0, max_tokens: %d, ignore_eos: true}}", tokens)
}

// countsAgree: in a closed and in an open loop, with requests queued in the server, our token counts are the server's own.
func (e *engine) countsAgree(t *testing.T, endpoint string) {
	e.on(endpoint)
	defer e.on("chat")
	for _, protocol := range []string{
		"protocol: {sweep: {concurrency: [1, 3], requests: 4, warmup: {requests: 1}}}",
		"protocol: {serve: {rate: 6, arrival: poisson, requests: 4}}",
	} {
		var points []measured
		counted := e.grown(t, func() { points = e.run(t, short(8), protocol) })
		input, output, cached := totals(t, points)
		if output != counted["generation_tokens"] || input != counted["prompt_tokens"] || cached != counted["prefix_hits"] {
			t.Errorf("%d tokens in, of them %d cached, %d out; the server counted %v", input, cached, output, counted)
		}
		for _, m := range points {
			if m.sum.RequestsIssued != 4 || m.sum.TTFTMS == nil || m.sum.TTFTMS.Min <= 0 {
				t.Errorf("point %s: %+v", m.point.ID, m.sum)
			}
			if m.Client.TokenSource != "usage" || m.Client.Reads == 0 || m.Client.Sockets.Opened == 0 {
				t.Errorf("point %s: client %+v", m.point.ID, m.Client)
			}
			for _, r := range m.all {
				if r.Session != "probe" && (r.OutputTokens != 8 || r.FinishReason != "length" || r.ID == "" || eventTokens(r) != 8) {
					t.Errorf("point %s, request %d: %d tokens, %d of events, finish %q, id %q", m.point.ID, r.Index, r.OutputTokens, eventTokens(r), r.FinishReason, r.ID)
				}
			}
		}
	}
}

func eventTokens(r record.Request) (sum int64) {
	for _, e := range r.Events {
		sum += e.Tokens
	}
	return sum
}

// on sends to another endpoint from now on.
func (e *engine) on(endpoint string) {
	from, _, _ := strings.Cut(e.head, ", endpoint: ")
	e.head = from + ", endpoint: " + endpoint + "}"
}

// lengthsAreExact: a prompt has as many tokens as asked for, by the server's own count, salt and chat template included.
func (e *engine) lengthsAreExact(t *testing.T) {
	defer e.on("chat")
	for _, endpoint := range []string{"chat", "completions"} {
		e.on(endpoint)
		m := e.run(t, "workload: {kind: synthetic, input_len: 60, seed: 3, sampling: {temperature: 0, max_tokens: 2, ignore_eos: true}}",
			"protocol: {sweep: {concurrency: 2, requests: 5}}")[0]
		for _, r := range m.all {
			if r.Session != "probe" && r.InputTokens != 60 {
				t.Errorf("%s, request %d has %d tokens, want 60; %v", endpoint, r.Index, r.InputTokens, m.Notes)
			}
		}
	}
}

// cacheAgrees: what the server says of a prompt's cached tokens is what its counter says, and the same prompt again is known but for a rest.
func (e *engine) cacheAgrees(t *testing.T) {
	prompt := strings.Repeat("A server that measures other servers is asked what it has seen. ", 20)
	line, err := json.Marshal(map[string]any{"prompt": prompt, "output_tokens": 4})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "same.jsonl")
	if err := os.WriteFile(path, append(line, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
	var points []measured
	counted := e.grown(t, func() {
		points = e.run(t, fmt.Sprintf("workload: {kind: jsonl, dataset: {path: %q}, salt: none, sampling: {temperature: 0, max_tokens: 4}}", path),
			"protocol: {sweep: {concurrency: 1, requests: 4}}")
	})
	input, _, cached := totals(t, points)
	if cached != counted["prefix_hits"] || input != counted["prompt_tokens"] {
		t.Errorf("%d of %d prompt tokens cached by usage; the server counted %v", cached, input, counted)
	}
	for _, r := range points[0].all {
		if known := (r.InputTokens - 1) / e.block * e.block; r.Session != "probe" && r.Index > 1 && r.CachedTokens != known {
			t.Errorf("request %d: %d of %d tokens were cached, want %d", r.Index, r.CachedTokens, r.InputTokens, known)
		}
	}
	if s := points[0].sum; s.PrefixHitRate == nil || *s.PrefixHitRate <= 0 {
		t.Errorf("prefix hit rate %v", s.PrefixHitRate)
	}
}

// conversationsReuse: each turn of a conversation carries the history that the server knows already, its own replies included.
func (e *engine) conversationsReuse(t *testing.T) {
	var points []measured
	counted := e.grown(t, func() {
		points = e.run(t, "workload: {kind: synthetic, input_len: 140, turns: 3, lengths: words, salt: session, sampling: {temperature: 0, max_tokens: 8, ignore_eos: true}}",
			"protocol: {sweep: {concurrency: 1, requests: 6}}")
	})
	_, _, cached := totals(t, points)
	if cached != counted["prefix_hits"] {
		t.Errorf("%d tokens cached by usage; the server counted %v", cached, counted)
	}
	var last record.Request
	turns := 0
	for _, r := range points[0].all {
		if r.Session == "probe" {
			continue
		}
		if r.Turn > 0 {
			turns++
			if r.Session != last.Session || r.InputTokens <= last.InputTokens+last.OutputTokens-2 || r.CachedTokens < last.InputTokens/e.block*e.block {
				t.Errorf("turn %d of %s: %d of %d tokens cached, the turn before had %d and a reply of %d", r.Turn, r.Session, r.CachedTokens, r.InputTokens, last.InputTokens, last.OutputTokens)
			}
		}
		last = r
	}
	if turns < 4 {
		t.Errorf("only %d turns had one before them", turns)
	}
}

// matrixRuns: prefill passes and decode cells measure what they are for, and the server sees no token that the client does not.
func (e *engine) matrixRuns(t *testing.T) {
	var points []measured
	counted := e.grown(t, func() {
		points = e.run(t, "workload: {kind: synthetic, lengths: words, seed: 5, sampling: {temperature: 0}}",
			"protocol: {matrix: {contexts: 64, concurrency: [1, 2], duration: 2s, prefill_duration: 1s, prefill_repeats: 2, stable: 500ms, warmup_timeout: 30s, max_tokens: 400}}")
	})
	var output int64
	for _, m := range points {
		for _, r := range m.all {
			output += max(0, r.OutputTokens)
			if r.Outcome != record.OK && (r.Outcome != record.Censored || m.point.Phase != plan.PhaseDecode) {
				t.Errorf("point %s, request %d: %s %s", m.point.ID, r.Index, r.Outcome, r.Error)
			}
		}
		switch m.point.Phase {
		case plan.PhasePrefill:
			if m.sum.PromptTPS == nil || *m.sum.PromptTPS <= 0 || m.sum.RequestsCompleted != 2 {
				t.Errorf("point %s: %+v", m.point.ID, m.sum)
			}
		case plan.PhaseDecode:
			if m.sum.SystemTPS == nil || *m.sum.SystemTPS <= 0 || m.sum.DurationS < 1.9 || m.Stopped != "" {
				t.Errorf("point %s: stopped %q, %+v", m.point.ID, m.Stopped, m.sum)
			}
		}
	}
	if out := counted["generation_tokens"]; len(points) != 3 || out < output || out > output+output/5+40 { // what was under way when streams were cut off was not seen
		t.Errorf("%d points with %d tokens out; the server counted %v", len(points), output, counted)
	}
}

// abortFreesTheSlot: a request past its time limit is cut off, the server stops working on it, and the next one is served.
func (e *engine) abortFreesTheSlot(t *testing.T) {
	var points []measured
	counted := e.grown(t, func() {
		points = e.run(t, short(1500), "client: {timeout: 1500ms}", "protocol: {sweep: {concurrency: 2, requests: 2}}")
	})
	var seen int64
	for _, r := range points[0].all {
		if r.Session != "probe" && r.Outcome != record.Timeout {
			t.Errorf("request %d: %s after %d tokens", r.Index, r.Outcome, r.OutputTokens)
		}
		seen += max(0, r.OutputTokens)
	}
	if made := counted["generation_tokens"]; made < seen || made > 2000 {
		t.Errorf("the server made %d tokens, we saw %d of at most 3001", made, seen)
	}
	e.serves(t)
}

// serves: nothing is left of earlier requests, and the next one is answered.
func (e *engine) serves(t *testing.T) {
	t.Helper()
	if _, output, _ := totals(t, e.run(t, short(3), "protocol: {sweep: {concurrency: 1, requests: 1}}")); output < 3 {
		t.Errorf("the next request brought %d tokens", output)
	}
}

// interruptDrains: who ends the run with requests under way gets the recording of what was seen, and the server is free.
func (e *engine) interruptDrains(t *testing.T) {
	p := e.plan(t, short(1500), "protocol: {sweep: {concurrency: 2, requests: 50}}")
	stopped := errors.New("interrupted")
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	m := measure(t, ctx, e.job(t, p, p.Points()[0]), func(now runner.Progress) {
		if now.InFlight == 2 && now.TPS > 0 {
			stop(stopped)
		}
	})
	if !errors.Is(m.err, stopped) {
		t.Fatalf("the client ended with %v", m.err)
	}
	cutOff := slices.DeleteFunc(m.all, func(r record.Request) bool { return r.Session == "probe" })
	events := 0
	for _, r := range cutOff {
		if r.Outcome != record.Aborted {
			t.Errorf("request %d: %s with %d events", r.Index, r.Outcome, len(r.Events))
		}
		events += len(r.Events)
	}
	if len(cutOff) != 2 || events == 0 {
		t.Errorf("%d requests with %d token events are in the recording, 2 were under way and tokens came", len(cutOff), events)
	}
	e.counters(t)
	e.serves(t)
}

// refusalIsNoResult: a prompt that the server has no room for is refused, and stands as such.
func (e *engine) refusalIsNoResult(t *testing.T) {
	m := e.run(t, "workload: {kind: synthetic, input_len: 4000, lengths: words, sampling: {max_tokens: 2}}", "protocol: {sweep: {concurrency: 1, requests: 1}}")[0]
	for _, r := range m.all {
		if r.Session != "probe" && (r.Outcome != record.HTTPStatus || r.Status != 400 || !strings.Contains(r.Error, "context")) {
			t.Errorf("%s %d %q", r.Outcome, r.Status, r.Error)
		}
	}
	if m.sum.RequestsCompleted != 0 || m.sum.TTFTMS != nil {
		t.Errorf("a refused request has figures: %+v", m.sum)
	}
}
