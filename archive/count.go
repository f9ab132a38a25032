package archive

import (
	"fmt"

	"assay/result"
	"assay/runner/metrics"
	"assay/runner/record"
)

// counts are what a recording tells of its client beside the metrics.
type counts struct {
	stampSource string
	tokenSource string // the weakest of the measured requests
	window      record.Counts
	allTokens   int64 // output tokens of all requests, warm-up too
}

func countsOf(rec record.Recording, w metrics.Window) counts {
	c := counts{stampSource: rec.Header.StampSource, window: rec.Count(w.StartUS, w.EndUS)}
	for _, r := range rec.Requests {
		c.allTokens += max(0, r.OutputTokens)
		if !r.Warmup {
			c.tokenSource = record.Weakest(c.tokenSource, r.TokenSource)
		}
	}
	return c
}

// compare holds the counts against what the result tells of them.
func (c counts) compare(told result.Point) (numbers int, differ []string) {
	type pair struct {
		name       string
		told, made any
	}
	var pairs []pair
	if t := told.Client; t != nil {
		pairs = append(pairs, pair{"client.stamp_source", t.StampSource, c.stampSource}, pair{"client.token_source", t.TokenSource, c.tokenSource},
			pair{"client.events", t.Events, c.window.Events}, pair{"client.shared_reads", t.SharedReads, c.window.SharedReads},
			pair{"client.retries", t.Retries, c.window.Retries})
	}
	if told.Engine != nil {
		pairs = append(pairs, pair{"engine.client_tokens", told.Engine.ClientTokens, c.allTokens})
	}
	for _, p := range pairs {
		if p.told != p.made {
			differ = append(differ, fmt.Sprintf("%s is %v, the recording gives %v", p.name, p.told, p.made))
		}
	}
	return len(pairs), differ
}
