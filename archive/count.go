package archive

import (
	"fmt"

	"assay/result"
	"assay/runner"
)

// compareCounts holds what a recording tells of its client beside the metrics against what the result tells of it.
func compareCounts(made runner.Reading, told result.Point) (numbers int, differ []string) {
	type pair struct {
		name       string
		told, made any
	}
	var pairs []pair
	if t := told.Client; t != nil {
		c := *t
		made.Tell(&c)
		pairs = append(pairs, pair{"client.stamp_source", t.StampSource, made.Header.StampSource}, pair{"client.token_source", t.TokenSource, made.TokenSource},
			pair{"client.events", t.Events, c.Events}, pair{"client.shared_reads", t.SharedReads, c.SharedReads},
			pair{"client.retries", t.Retries, c.Retries}, pair{"client.refill_us", t.RefillUS, c.RefillUS}, pair{"client.idle_share", known(t.IdleShare), known(c.IdleShare)})
	}
	if told.Engine != nil {
		pairs = append(pairs, pair{"engine.client_tokens", told.Engine.ClientTokens, made.OutputTokens})
	}
	if w := told.Warmup; w != nil {
		var own runner.Warmup // of a recording that has none
		if made.Warmup != nil {
			own = *made.Warmup
		}
		pairs = append(pairs, pair{"warmup.requests", w.Requests, own.Requests}, pair{"warmup.duration_s", w.DurationS, own.DurationS})
	}
	if told.PromptTokens != nil {
		pairs = append(pairs, pair{"prompt_tokens", known(told.PromptTokens), known(made.PromptTokens)})
	}
	for _, p := range pairs {
		if p.told != p.made {
			differ = append(differ, fmt.Sprintf("%s is %v, the recording gives %v", p.name, p.told, p.made))
		}
	}
	return len(pairs), differ
}

// known is a figure that may not be known.
func known[T any](v *T) any {
	if v == nil {
		return "not told"
	}
	return *v
}
