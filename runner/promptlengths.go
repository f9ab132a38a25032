package runner

import (
	"maps"
	"slices"

	"assay/runner/load"
	"assay/runner/record"
)

// promptLengths counts prompts by their length in tokens.
type promptLengths map[int64]int

// add takes a request whose prompt the server has counted; that of a probe is none of the point's.
func (p promptLengths) add(r *record.Request) {
	if r.InputTokens > 0 && r.Session != load.ProbeSession {
		p[r.InputTokens]++
	}
}

// median is the lower one of two; nil when nothing was counted.
func (p promptLengths) median() *int64 {
	all := 0
	for _, n := range p {
		all += n
	}
	below := 0
	for _, tokens := range slices.Sorted(maps.Keys(p)) {
		if below += p[tokens]; 2*below >= all {
			return &tokens
		}
	}
	return nil
}
