package follow

import (
	"fmt"
	"io"
	"strings"
	"time"

	"assay/fault"
	"assay/result"
)

// plainEvery is how often progress is told where a line cannot be rewritten.
const plainEvery = 5 * time.Second

// Screen is where events are shown.
type Screen struct {
	Out      io.Writer
	Now      func() time.Time
	Terminal bool // it can rewrite a line
	Columns  int  // of that terminal
}

// follower shows the events of one run: a rewritten status line on a terminal, plain lines otherwise.
type follower struct {
	Screen
	run      string
	began    time.Time
	lastLine time.Time // of plain progress
	live     bool      // a status line stands on the terminal
	phase    string
}

// Events shows the events of a run until it ends or the channel closes.
func (s Screen) Events(events <-chan result.Event, run string) {
	f := &follower{Screen: s, run: run, began: s.Now()}
	for e := range events {
		if e.Run != run {
			continue
		}
		f.event(e)
		if e.Kind == result.RunEnded {
			return
		}
	}
}

func (f *follower) event(e result.Event) {
	switch e.Kind {
	case result.RunStarted:
		f.line("run %s: %s", e.Run, e.Text)
	case result.PhaseStarted:
		f.phase = e.Phase
		f.status("%s %s", e.Phase, e.Point)
	case result.PhaseEnded:
		if e.Text != "" {
			f.line("%s %s: %s", e.Phase, howEnded(e.State), e.Text)
			return
		}
		if told(e.Phase) {
			f.line("%s ok", e.Phase)
		}
	case result.Progressed:
		f.progress(e)
	case result.PointEnded:
		f.line("%s", pointLine(*e.Result))
	case result.Logged, result.Stopped, result.NodeMarked, result.NodeCleared:
		f.line("%s", e.Text)
	case result.RunEnded:
		f.line("run ended: %s %s", e.State, e.Verdict)
	}
}

// howEnded is a word for a phase that did not end well: it failed, or somebody stopped the run.
func howEnded(s result.State) string {
	if s == result.Interrupted || s == result.Canceled {
		return "stopped"
	}
	return "failed"
}

// told says which phases are worth a line of their own when they end well.
func told(phase string) bool {
	switch phase {
	case "preflight", "pull", "start", "ready", "collect", "stop start":
		return true
	}
	return false
}

// progress rewrites the status line, or tells a plain line now and then.
func (f *follower) progress(e result.Event) {
	if f.Terminal {
		f.status("%s", progressText(e, bar(e.Progress.Done, e.Progress.Total)))
		return
	}
	if f.Now().Sub(f.lastLine) < plainEvery {
		return
	}
	f.lastLine = f.Now()
	f.line("%s", progressText(e, ""))
}

func progressText(e result.Event, bar string) string {
	p := e.Progress
	name := e.Point
	if name == "" {
		name = e.Phase
	}
	stage, text := p.Stage, e.Text
	if stage == name { // a phase of one stage: its text says more
		stage, text = text, ""
	}
	s := fmt.Sprintf("%-8s %-8s %s", name, stage, bar) + amount(*p)
	if p.InFlight > 0 {
		s += fmt.Sprintf("  in flight %d  %.0f tok/s", p.InFlight, p.TPS)
	}
	if p.InFlight > 0 && p.TTFTMS > 0 { // none before the first token
		s += fmt.Sprintf("  TTFT %.0f ms", p.TTFTMS)
	}
	if p.Failed > 0 {
		s += fmt.Sprintf("  failed %d", p.Failed)
	}
	if text != "" {
		s += "  " + text
	}
	return strings.TrimRight(s, " ")
}

// amount says how far a step is in its own unit; nothing when nothing was counted yet.
func amount(p result.Progress) string {
	done, unit := p.Done, p.Unit
	total := p.Total
	if unit == "bytes" {
		done, total, unit = done/1e6, total/1e6, "MB"
	}
	switch {
	case total > 0:
		return fmt.Sprintf(" %.0f/%.0f %s", done, total, unit)
	case done > 0:
		return fmt.Sprintf(" %.0f %s", done, unit)
	}
	return ""
}

// bar draws how far a step is in twenty characters; an unknown total draws nothing.
func bar(done, total float64) string {
	if total <= 0 {
		return ""
	}
	full := int(20 * min(1, done/total))
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", 20-full) + "]"
}

func pointLine(p result.Point) string {
	s := fmt.Sprintf("%-14s %-15s", p.ID, p.State)
	if m := p.Metrics; m != nil {
		s += fmt.Sprintf(" %5d requests", m.RequestsCompleted)
		if m.SystemTPS != nil {
			s += fmt.Sprintf("  %9.1f tok/s", *m.SystemTPS)
		}
		if m.TTFTMS != nil {
			s += fmt.Sprintf("  TTFT P90 %8.1f ms", m.TTFTMS.P90)
		}
	}
	for _, r := range p.Reasons {
		s += "  " + r.Text + " (" + r.Code + ")"
	}
	return s
}

// line writes a line that stays.
func (f *follower) line(format string, args ...any) {
	f.clear()
	fmt.Fprintf(f.Out, "%6.1f s  %s\n", f.Now().Sub(f.began).Seconds(), fault.Printable(fmt.Sprintf(format, args...)))
}

// status rewrites the last line of a terminal.
func (f *follower) status(format string, args ...any) {
	if !f.Terminal {
		return
	}
	f.clear()
	text := []rune(fault.Printable(fmt.Sprintf(format, args...)))
	text = text[:min(len(text), max(0, f.Columns-11))]
	fmt.Fprintf(f.Out, "%6.1f s  %s", f.Now().Sub(f.began).Seconds(), string(text))
	f.live = true
}

func (f *follower) clear() {
	if f.live {
		fmt.Fprint(f.Out, "\r\033[K")
		f.live = false
	}
}
