package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode"

	"assay/result"
)

// shown is what following events shows, plain or on a terminal.
func shown(terminal bool, events ...result.Event) string {
	var out bytes.Buffer
	a := &app{stderr: &out, now: func() time.Time { return time.Unix(1e9, 0) }, terminal: terminal, columns: 200}
	c := make(chan result.Event, len(events))
	for _, e := range events {
		e.Run = "r"
		c <- e
	}
	close(c)
	a.follow(c, "r")
	return out.String()
}

// TestNoCommandsForTheTerminal: what a server or a plan's author wrote stands there, but commands nothing and makes no line of its own.
func TestNoCommandsForTheTerminal(t *testing.T) {
	const evil = "x\x1b[2J\r\n   0.0 s  run ended: done valid\x9b"
	events := []result.Event{
		{Kind: result.RunStarted, Text: evil},
		{Kind: result.PhaseStarted, Phase: "ready", Point: evil},
		{Kind: result.Progressed, Phase: "ready", Text: evil, Progress: &result.Progress{Stage: "ready"}},
		{Kind: result.PhaseEnded, Phase: "ready", Text: evil},
		{Kind: result.PointEnded, Result: &result.Point{ID: evil, Reasons: []result.Reason{{Code: "c", Text: evil}}}},
		{Kind: result.Logged, Text: evil},
	}
	if got := shown(false, events...); strings.ContainsFunc(got, commands) || strings.Count(got, "\n") != 5 || !strings.Contains(got, `x\x1b[2J\r\n`) {
		t.Errorf("shown %q", got)
	}
	for _, e := range events {
		got := shown(true, result.Event{Kind: result.RunStarted}, e)
		if strings.Contains(strings.ReplaceAll(got, "\r\x1b[K", ""), "\x1b") {
			t.Errorf("%s: shown %q", e.Kind, got)
		}
	}
	var end bytes.Buffer
	(&app{}).showEnd(&end, result.Result{Run: result.Run{State: result.Done, Verdict: result.NotValid, Reasons: []result.Reason{{Text: evil, Evidence: evil}}}})
	if got := end.String(); strings.ContainsFunc(got, commands) || strings.Count(got, "\n") != 5 {
		t.Errorf("shown %q", got)
	}
}

// commands tells whether a terminal does more with a character than to show it or to begin a line.
func commands(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }

func TestStoppedIsNotFailed(t *testing.T) {
	for state, want := range map[result.State]string{
		"":                 "measure failed: why",
		result.Interrupted: "measure stopped: why",
		result.Canceled:    "measure stopped: why",
	} {
		if got := shown(false, result.Event{Kind: result.PhaseEnded, Phase: "measure", Text: "why", State: state}); !strings.Contains(got, want) {
			t.Errorf("%q: shown %q", state, got)
		}
	}
}
