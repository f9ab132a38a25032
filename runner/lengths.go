package runner

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"assay/runner/record"
)

// lengths counts answers that were to have one exact length and ended before it: the server did not honour ignore_eos, met
// a stop string, or had no room left.
type lengths struct {
	want int64 // tokens; 0: answers may have any length

	mu      sync.Mutex
	all     int
	reasons map[string]int // finish reasons of the short ones
}

// wantedLength is the length that every answer of a job is to have; 0 where they may differ.
func wantedLength(job Job, maxTokens int, ignoreEOS bool) *lengths {
	l := &lengths{reasons: map[string]int{}}
	switch job.Plan.Workload.Kind {
	case "synthetic", "text", "sharegpt": // the others have limits of their own
		if ignoreEOS {
			l.want = int64(maxTokens)
		}
	}
	return l
}

// watching gives a keep that looks at each request on its way.
func (l *lengths) watching(keep func(record.Request) error) func(record.Request) error {
	if l.want == 0 {
		return keep
	}
	return func(r record.Request) error {
		if !r.Warmup && r.Outcome == record.OK && r.OutputTokens != record.Never {
			l.look(r)
		}
		return keep(r)
	}
}

func (l *lengths) look(r record.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all++
	if r.OutputTokens < l.want {
		l.reasons[r.FinishReason]++
	}
}

// notes says how many were short, by their finish reasons.
func (l *lengths) notes() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	short, parts := 0, []string(nil)
	for _, reason := range slices.Sorted(maps.Keys(l.reasons)) {
		short += l.reasons[reason]
		parts = append(parts, fmt.Sprintf("%d with finish reason %q", l.reasons[reason], reason))
	}
	if short == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d answers have fewer than the %d tokens asked for: %s", short, l.all, l.want, strings.Join(parts, ", "))}
}
