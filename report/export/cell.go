package export

import (
	"slices"

	"assay/result"
	"assay/runner/metrics"
	"assay/runner/record"
)

// cellTally collects a point's requests by the formulas of llm-inference-bench: every request of the cell gives its latencies, also those
// begun before the window and those that the window's end cut off; seconds, values that are not above 0 left out.
type cellTally struct {
	window  metrics.Window
	tokens  int64 // inside the window
	lastUS  int64 // of the last tokens inside; the window's start without any
	prompts []float64

	ttft, tokenGap, userTPS, chunkGap, toSecond, latency, endTPS, promptTPS samples

	completed, failed int
	requests          []object
}

// samples are values of which those above 0 count.
type samples []float64

func (s *samples) add(v float64) {
	if v > 0 {
		*s = append(*s, v)
	}
}

// at is the pth percentile, linear between neighbours; nil for no samples. The samples are sorted.
func (s samples) at(p float64) *float64 {
	if len(s) == 0 {
		return nil
	}
	v := metrics.Percentile(s, p)
	return &v
}

func (s samples) mean() *float64 {
	sum := 0.0
	for _, v := range s {
		sum += v
	}
	return per(sum, float64(len(s)))
}

// cellOf reads a point's recording.
func cellOf(r result.Result, at result.Point, recordings Recordings) (*cellTally, error) {
	t := &cellTally{window: windowOf(at), lastUS: at.Recording.WindowUS[0]}
	err := recordings.scan(r.Run.ID, at, func(q *record.Request) error {
		if !q.Warmup {
			t.add(q)
		}
		return nil
	})
	for _, s := range []*samples{&t.ttft, &t.tokenGap, &t.userTPS, &t.chunkGap, &t.toSecond, &t.latency, &t.endTPS, &t.promptTPS} {
		slices.Sort(*s)
	}
	slices.Sort(t.prompts)
	return t, err
}

func (t *cellTally) add(q *record.Request) {
	for _, e := range q.Events {
		if e.Tokens > 0 && t.window.Holds(e.AtUS) {
			t.tokens += e.Tokens
			t.lastUS = max(t.lastUS, e.AtUS)
		}
	}
	completed := q.Outcome == record.OK
	switch {
	case completed:
		t.completed++
	case q.Outcome != record.Censored:
		t.failed++
	}
	if len(q.Events) == 0 || q.SentUS == record.Never {
		return
	}
	t.latencies(q, completed)
}

// latencies takes a request that had a token.
func (t *cellTally) latencies(q *record.Request, completed bool) {
	n, tokens := len(q.Events), q.Output()
	first, last := q.Events[0].AtUS, q.Events[n-1].AtUS
	ttft := seconds(first - q.SentUS)
	t.ttft.add(ttft)
	if q.InputTokens > 0 {
		t.prompts = append(t.prompts, float64(q.InputTokens))
		t.promptTPS.add(float64(q.InputTokens) / ttft)
	}
	if n > 1 {
		t.toSecond.add(seconds(q.Events[1].AtUS - first))
		t.chunkGap.add(seconds(last-first) / float64(n-1))
	}
	if tokens > 1 && last > first {
		gap := seconds(last-first) / float64(tokens-1)
		t.tokenGap.add(gap)
		t.userTPS.add(1 / gap)
	}
	if completed && last > q.SentUS {
		t.latency.add(seconds(last - q.SentUS))
		t.endTPS.add(float64(tokens) / seconds(last-q.SentUS))
	}
	t.requests = append(t.requests, object{{"ttft", ttft}, {"output_tokens", tokens}, {"completed", completed}})
}

func seconds(us int64) float64 { return float64(us) / second }

// aggregateTPS is the tokens of the window over the time from its start to the last of them: the denominator ends there, not at the
// window's end.
func (t *cellTally) aggregateTPS() *float64 {
	return per(float64(t.tokens), seconds(t.lastUS-t.window.StartUS))
}
