package runner

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"assay/runner/record"
)

// lengths holds what the server counted against what was asked for: prompts of one length, and answers of one length. A tokenizer that
// changed makes prompts longer; answers end early where ignore_eos is not honoured, a stop string comes, or no room is left.
type lengths struct {
	input, output int64 // tokens; 0: they may have any length

	mu       sync.Mutex
	prompts  int
	other    int // prompts off by more than offShare
	from, to int64
	answers  int
	short    map[string]int // finish reasons of answers that ended early
}

// offShare is how far from the wanted length a prompt may be.
const offShare = 0.05

// wantedLengths is what the prompts and answers of a job are to have.
func wantedLengths(job Job, maxTokens int, ignoreEOS bool) *lengths {
	l := &lengths{short: map[string]int{}}
	w := job.Plan.Workload
	switch w.Kind {
	case "synthetic", "text", "sharegpt": // the others have lengths of their own
	default:
		return l
	}
	if ignoreEOS {
		l.output = int64(maxTokens)
	}
	if w.Lengths != "words" {
		l.input = int64(w.InputLen)
		if job.Point.Context > 0 {
			l.input = int64(job.Point.Context)
		}
	}
	return l
}

// watching gives a keep that looks at each request on its way.
func (l *lengths) watching(keep func(record.Request) error) func(record.Request) error {
	return func(r record.Request) error {
		if !r.Warmup {
			l.look(r)
		}
		return keep(r)
	}
}

func (l *lengths) look(r record.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.input > 0 && r.Turn == 0 && r.InputTokens != record.Never {
		l.prompt(r.InputTokens)
	}
	if l.output > 0 && r.Outcome == record.OK && r.OutputTokens != record.Never {
		l.answers++
		if r.OutputTokens < l.output {
			l.short[r.FinishReason]++
		}
	}
}

// prompt takes the length of a first turn's prompt.
func (l *lengths) prompt(tokens int64) {
	if l.prompts++; l.prompts == 1 {
		l.from, l.to = tokens, tokens
	}
	l.from, l.to = min(l.from, tokens), max(l.to, tokens)
	if off := float64(tokens - l.input); max(off, -off) > offShare*float64(l.input) {
		l.other++
	}
}

// notes says how many prompts and answers have another length than asked for.
func (l *lengths) notes() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var notes []string
	if l.other > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d prompts differ by more than %.0f %% from the %d tokens asked for: the server counts %d to %d",
			l.other, l.prompts, 100*offShare, l.input, l.from, l.to))
	}
	short, parts := 0, []string(nil)
	for _, reason := range slices.Sorted(maps.Keys(l.short)) {
		short += l.short[reason]
		parts = append(parts, fmt.Sprintf("%d with finish reason %q", l.short[reason], reason))
	}
	if short > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d answers have fewer than the %d tokens asked for: %s", short, l.answers, l.output, strings.Join(parts, ", ")))
	}
	return notes
}
