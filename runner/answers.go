package runner

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/runner/record"
)

// answers holds what the server counted against answers of one length: they end early where ignore_eos is not honoured, a stop string
// comes, or no room is left.
type answers struct {
	wanted int64 // tokens; 0: they may have any length
	all    int
	short  map[string]int // finish reasons of those that ended early
}

// wantedAnswers is what the answers of a job are to have.
func wantedAnswers(job Job, maxTokens int, ignoreEOS bool) *answers {
	a := &answers{short: map[string]int{}}
	switch job.Plan.Workload.Kind {
	case "synthetic", "text", "sharegpt": // the others have lengths of their own
		if ignoreEOS {
			a.wanted = int64(maxTokens)
		}
	}
	return a
}

// watching gives a keep that looks at each request on its way.
func (a *answers) watching(keep func(record.Request) error) func(record.Request) error {
	return func(r record.Request) error {
		if !r.Warmup {
			a.look(r)
		}
		return keep(r)
	}
}

func (a *answers) look(r record.Request) {
	if a.wanted == 0 || r.Outcome != record.OK || r.OutputTokens == record.Never {
		return
	}
	a.all++
	if r.OutputTokens < a.wanted {
		a.short[r.FinishReason]++
	}
}

// notes says how many are shorter than asked for.
func (a *answers) notes() []string {
	short, parts := 0, []string(nil)
	for _, reason := range slices.Sorted(maps.Keys(a.short)) {
		short += a.short[reason]
		parts = append(parts, fmt.Sprintf("%d with finish reason %q", a.short[reason], reason))
	}
	if short == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d answers have fewer than the %d tokens asked for: %s", short, a.all, a.wanted, strings.Join(parts, ", "))}
}
