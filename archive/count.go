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
		pairs = append(pairs, pair{"client.stamp_source", t.StampSource, made.Header.StampSource}, pair{"client.token_source", t.TokenSource, made.TokenSource},
			pair{"client.events", t.Events, made.Counts.Events}, pair{"client.shared_reads", t.SharedReads, made.Counts.SharedReads},
			pair{"client.retries", t.Retries, made.Counts.Retries})
	}
	if told.Engine != nil {
		pairs = append(pairs, pair{"engine.client_tokens", told.Engine.ClientTokens, made.OutputTokens})
	}
	for _, p := range pairs {
		if p.told != p.made {
			differ = append(differ, fmt.Sprintf("%s is %v, the recording gives %v", p.name, p.told, p.made))
		}
	}
	return len(pairs), differ
}
