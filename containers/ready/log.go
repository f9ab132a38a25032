package ready

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"assay/containers/engine"
)

// Part is a part of a server's start, as its log tells it.
type Part struct {
	Phase   string  `json:"phase"`            // weights, compile, tune, memory, graphs, warmup
	AtS     float64 `json:"at_s"`             // seconds after the wait began: its first line
	Seconds float64 `json:"seconds"`          // how long it took: by the server's own word where it gives one, else until the next part's first line
	Source  string  `json:"source,omitempty"` // log: the server's own word; seen: by when its lines came; empty when it had not ended
	Line    string  `json:"line"`             // the last line that told of it
}

// Log follows the log of a server that starts.
type Log struct {
	Said func(line string) // hears what is new in it, of much at once the last lines; nil: nobody does. It is set before Watch

	path   string
	preset engine.Preset
	told   func(phase string)
	begun  time.Time

	mu       sync.Mutex
	offset   int64
	rest     string // of a line that has not ended yet
	moved    time.Time
	last     string
	up       bool
	parts    []Part
	settings []engine.Setting
	inside   string // line by which it says that it listens on its own loopback
}

// Limits of what is kept of a line, and how often the log is looked at.
const (
	lineCap      = 64 << 10
	lookInterval = 250 * time.Millisecond
	saidAtOnce   = 20 // lines of one look that are heard
)

// NewLog follows a file; told hears of each part of the start when it begins.
func NewLog(path string, preset engine.Preset, told func(phase string)) *Log {
	now := time.Now()
	return &Log{path: path, preset: preset, told: told, begun: now, moved: now}
}

// Watch reads what is new until ctx ends. When nothing new comes for longer than quiet, stop is called; with 0 it never is.
func (l *Log) Watch(ctx context.Context, quiet time.Duration, stop func(error)) {
	tick := time.NewTicker(lookInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			l.look() // its last words
			return
		case <-tick.C:
		}
		if silent, last := l.look(); quiet > 0 && silent >= quiet {
			stop(silence{quiet, last})
			return
		}
	}
}

// silence is the cause of a wait that was ended because the log said nothing new.
type silence struct {
	limit time.Duration
	last  string
}

// Error says what was heard last.
func (s silence) Error() string {
	if s.last == "" {
		return fmt.Sprintf("its log has said nothing at all for %s", s.limit)
	}
	return fmt.Sprintf("its log has said nothing new for %s; the last line was %q", s.limit, s.last)
}

// look reads what is new, and tells for how long there was nothing.
func (l *Log) look() (silent time.Duration, last string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := l.read()
	if text != "" {
		l.take(l.rest + text)
	}
	return time.Since(l.moved), l.last
}

// read gives what was written since. A log that has become shorter was cut, and is read on from its end.
func (l *Log) read() string {
	f, err := os.Open(l.path)
	if err != nil {
		return ""
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || st.Size() == l.offset {
		return ""
	}
	if st.Size() < l.offset {
		l.offset, l.rest = st.Size(), ""
		return ""
	}
	b, _ := io.ReadAll(io.NewSectionReader(f, l.offset, st.Size()-l.offset)) // what could be read counts
	l.offset += int64(len(b))
	return string(b)
}

func (l *Log) take(text string) {
	lines := engine.Lines(text)
	l.rest = ""
	if end := text[len(text)-1]; end != '\n' && end != '\r' && len(lines) > 0 {
		l.rest = lines[len(lines)-1]
		lines = lines[:len(lines)-1]
		if !l.echo(l.rest) { // dots of progress have no end of line
			l.moved = time.Now()
		}
		if len(l.rest) > lineCap {
			l.rest = l.rest[:lineCap]
		}
	}
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.TrimSpace(line) == "" || l.echo(line) })
	for i, line := range lines {
		l.line(line)
		if l.Said != nil && i >= len(lines)-saidAtOnce {
			l.Said(l.last)
		}
	}
}

// line takes one line that has ended, and is no echo.
func (l *Log) line(line string) {
	l.moved, l.last = time.Now(), engine.FirstLine(line)
	l.settings = engine.Known(l.settings, engine.PrintedSettings(line))
	if l.inside == "" && engine.ContainsAny(line, []string{"on http://127.0.0.1", "on http://localhost", "on http://[::1]"}) {
		l.inside = l.last
	}
	if phase, seconds := l.preset.Loads(line); phase != "" {
		l.part(phase, seconds)
	}
}

// echo tells a line by which the server logs what is asked of it here: it is no sign of progress.
func (l *Log) echo(line string) bool {
	return l.preset.HealthPath != "" && strings.Contains(line, "GET "+l.preset.HealthPath) || strings.Contains(line, "GET "+l.preset.ModelsPath) ||
		strings.Contains(line, "POST /v1/")
}

// part notes a line that tells of a part of the start. Each of several ranks may tell of it: the slowest one counts.
func (l *Log) part(phase string, seconds float64) {
	at := math.Round(time.Since(l.begun).Seconds()*1000) / 1000
	for i := range l.parts {
		if p := &l.parts[i]; p.Phase == phase {
			p.Line = l.last
			if seconds > p.Seconds {
				p.Seconds, p.Source = seconds, "log"
			}
			return
		}
	}
	if n := len(l.parts); n > 0 && l.parts[n-1].Source == "" {
		l.parts[n-1].Seconds, l.parts[n-1].Source = at-l.parts[n-1].AtS, "seen"
	}
	p := Part{Phase: phase, AtS: at, Line: l.last}
	if seconds > 0 {
		p.Seconds, p.Source = seconds, "log"
	}
	l.parts, l.up = append(l.parts, p), phase == engine.LoadUp
	l.told(phase)
}

// Parts are the parts of the start so far.
func (l *Log) Parts() []Part {
	l.look()
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Part{}, l.parts...)
}

// Settings are what the server printed of its configuration.
func (l *Log) Settings() []engine.Setting {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]engine.Setting{}, l.settings...)
}

// Inside is the line by which the server says that it listens on its own loopback; "" when it did not.
func (l *Log) Inside() string {
	if l == nil {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.inside
}

// loading says what the server was doing last: "loading: weights for 12m3s", or "" when its log told nothing of that.
func (l *Log) loading() string {
	if l == nil {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.parts) == 0 || l.up {
		return ""
	}
	p := l.parts[len(l.parts)-1]
	since := time.Since(l.begun) - time.Duration(p.AtS*float64(time.Second))
	return fmt.Sprintf("loading %s for %s", p.Phase, since.Round(time.Second))
}
