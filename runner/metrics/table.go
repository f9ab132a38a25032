package metrics

import "assay/runner/record"

// Definition is what a metric's name means. ID is its key in the result document.
type Definition struct {
	ID         string
	Unit       string
	Text       string
	Population string // which requests, events or points it is made of
}

// The populations of the metrics. A window holds its first instant and not its last.
const (
	sentInside     = "requests sent inside the window; one never sent, by its intended start"
	okSentInside   = "ok requests sent inside the window, whenever they end"
	okEndInside    = "ok requests whose last token event is inside the window, whenever sent"
	eventsInside   = "token events inside the window, of every request whatever its outcome"
	gapsInside     = "gaps that end inside the window, of ok requests"
	flightInside   = "every request, for the time inside the window from sent to its end"
	theWindow      = "the window"
	pointsOfTheRun = "the points of the run"
)

// Table lists every metric of Summary in its order.
func Table() []Definition {
	return []Definition{
		{"requests_issued", "", "requests issued", sentInside},
		{"requests_completed", "", "requests that ended with outcome ok", okEndInside},
		{"requests_failed", "", "requests that ended with another outcome; censored ones are counted apart", sentInside},
		{"censored", "", "requests still streaming when the drain limit cut them off", sentInside},
		{"outcomes", "", "requests per outcome", sentInside},
		{"duration_s", "s", "length of the window", theWindow},
		{"qps", "1/s", "requests_completed / duration_s", okEndInside},
		{"input_tokens", "tokens", "prompt tokens as the server counts them; unknown when it did not tell for one of them", okEndInside},
		{"output_tokens", "tokens", "reply tokens as the server counts them; where it did not tell, the tokens of the events", okEndInside},
		{"avg_output_tokens", "tokens", "output_tokens / requests_completed", okEndInside},
		{"system_tps", "tok/s", "tokens of the events / duration_s", eventsInside},
		{"system_tps_completed", "tok/s", "output_tokens / duration_s (what most clients print)", okEndInside},
		{"total_tps", "tok/s", "(input_tokens + output_tokens) / duration_s", okEndInside},
		{"prompt_tps", "tok/s", "prefill points only: input tokens / sum of the times to first token", okSentInside},
		{"tps_per_user", "tok/s", "system_tps / concurrency of the point", eventsInside},
		{"tps_per_user_tpot", "tok/s", "1000 / mean of tpot_ms", okEndInside},
		{"tps_per_request", "tok/s", "mean over requests of (output tokens − tokens of the first event) / (last − first token event)", okEndInside},
		{"ttft_ms", "ms", "first token event − sent", okSentInside},
		{"ttfat_ms", "ms", "first answer (not reasoning) token event − sent", okSentInside},
		{"tpot_ms", "ms", "(last − first token event) / (output tokens − tokens of the first event), of requests with two events and more tokens than the first one's", okEndInside},
		{"itl_ms", "ms", "gaps between token events; a gap that brought k tokens counts as k samples of gap / k", gapsInside},
		{"e2e_ms", "ms", "last token event − sent", okEndInside},
		{"connect_ms", "ms", "time to open the connection, of requests that opened one; no part of ttft_ms", okSentInside},
		{"queue_ms", "ms", "sent − intended start", okSentInside},
		{"active_mean", "requests", "time-weighted mean of the requests in flight", flightInside},
		{"utilization", "%", "100 · system_tps / highest system_tps", pointsOfTheRun},
		{"tps_per_node", "tok/s", "system_tps / decode nodes of the plan", eventsInside},
		{"cached_tokens", "tokens", "prompt tokens the server took from its prefix cache; unknown when it did not tell for one of them", okEndInside},
		{"prefix_hit_rate", "%", "100 · cached_tokens / input_tokens, both from the usage the server tells with each reply; what the counters of its metrics endpoint say over the whole point stands in the engine counts", okEndInside},
	}
}

// OutcomeText says what an outcome means.
type OutcomeText struct {
	Outcome record.Outcome
	Text    string
}

// Outcomes lists how a request can end; only the first counts as completed.
func Outcomes() []OutcomeText {
	return []OutcomeText{
		{record.OK, "a finish reason or `[DONE]` was seen and no error; `length`, `stop`, `tool_calls` and `content_filter` alike"},
		{record.Truncated, "the stream ended without finish reason and without `[DONE]`"},
		{record.Aborted, "the server gave the finish reason `abort`, or the run ended while it was under way"},
		{record.ErrorFrame, "an error inside the stream, whatever came after it"},
		{record.HTTPStatus, "a status other than 200; never sent again, its Retry-After is recorded"},
		{record.BadResponse, "the reply was no event stream, or could not be decoded"},
		{record.Refused, "no connection"},
		{record.Reset, "the connection broke"},
		{record.Stalled, "no byte came for the stall limit"},
		{record.Timeout, "the request's time limit passed"},
		{record.Dropped, "never sent: the run ended, or a limit of the client"},
		{record.Censored, "still streaming when the drain limit cut it off; counted apart from the failed ones"},
	}
}
