package sim

import (
	"context"
	"net/http"
	"time"

	"assay/sim/wire"
)

// exchange is one request with its answer.
type exchange struct {
	server  *Server
	w       http.ResponseWriter
	control *http.ResponseController
	link    *link // nil outside Serve
	body    body
	chat    bool
	created int64
	seq     *sequence
	faults  []Fault // that meet the request
	pending []Fault // those of them that wait for their token
	style   wire.Style
	counted int  // tokens in the events so far
	role    bool // the role chunk was sent, or there is none
	truth   Truth
	text    []byte // the event that is being made
	out     []byte // events that were not handed to the kernel yet
}

// The ends of a request that are neither a finish reason nor a fault.
const (
	gone    = "gone"    // the client left
	refused = "refused" // answered with an error status
)

// answer sends the reply and records how it ended.
func (x *exchange) answer(ctx context.Context) {
	x.truth.Status = http.StatusOK
	switch {
	case x.has(Page):
		x.truth.End = x.page()
	case x.body.Stream && !x.has(Whole):
		x.truth.End = x.stream(ctx)
	default:
		x.truth.End = x.whole(ctx)
	}
	x.seq.engine.count(countedAs(x.truth.End), x.seq.arrived)
}

// countedAs gives the engine's counter for an end.
func countedAs(end string) string {
	switch end {
	case "stop", "length":
		return end
	case gone, string(Abort):
		return "abort"
	}
	return "error"
}

// stream sends event after event until the reply, a fault or the client ends it.
func (x *exchange) stream(ctx context.Context) string {
	if !x.begin(ctx) {
		return gone
	}
	for {
		made, ended, cached := x.seq.progress()
		x.truth.CachedTokens = cached
		for n := x.take(made, ended); n > 0; n = x.take(made, ended) {
			if end := x.trip(ctx); end != "" {
				return end
			}
			if !x.send(n, ended) {
				return gone
			}
		}
		if ended && x.truth.OutputTokens >= made {
			if end := x.trip(ctx); end != "" {
				return end
			}
			if len(x.truth.Events) == 0 && !x.send(0, ended) { // all of the reply was hidden
				return gone
			}
			return x.close(ctx, x.body.finishReason(x.server.cfg, x.seq))
		}
		select {
		case <-ctx.Done():
			return gone
		case <-x.seq.wake:
		}
	}
}

// begin sends the headers, and what comes before the first token; false when the client is gone.
func (x *exchange) begin(ctx context.Context) bool {
	x.style = styleOf(x.faults)
	x.role = !x.chat
	h := x.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	if x.has(Mark) {
		x.out = append(x.out, wire.Mark...)
	}
	if x.has(HeadersLate) {
		return true
	}
	x.truth.HeadersUS = x.server.clock.now()
	x.w.WriteHeader(http.StatusOK)
	if !x.flush() {
		return false
	}
	if f, ok := x.fault(RoleAlone); ok && x.chat {
		if !wait(ctx, f.Delay) {
			return false
		}
		x.roleChunk()
		return x.flush()
	}
	return true
}

// take says how many of the made tokens the next event carries; 0 waits for more.
func (x *exchange) take(made int, ended bool) int {
	if f, ok := x.fault(Hidden); ok && x.truth.OutputTokens < min(f.Amount, made) {
		if !x.role {
			x.roleChunk()
		}
		x.truth.OutputTokens = min(f.Amount, made)
	}
	left, want := made-x.truth.OutputTokens, x.chunk()
	for _, f := range x.pending {
		if x.truth.OutputTokens < f.AtToken {
			want = min(want, f.AtToken-x.truth.OutputTokens)
		}
	}
	if x.reasoning() {
		want = min(want, x.server.cfg.Reasoning-x.truth.OutputTokens)
	}
	if left >= want || ended {
		return min(left, want)
	}
	return 0
}

// chunk is how many tokens the next event has by the rules of the engine: those of a step, and of further ones up to ChunkTokens.
func (x *exchange) chunk() int {
	if len(x.truth.Events) == 0 { // the first token never waits
		f, _ := x.fault(Bundle)
		return max(1, f.Amount)
	}
	n := 0
	for n < x.server.cfg.ChunkTokens {
		n += x.seq.reply.burst(x.truth.OutputTokens+n, x.server.cfg)
	}
	return n
}

// send writes an event of n tokens and notes when; false when the client is gone.
func (x *exchange) send(n int, ended bool) bool {
	if !x.role {
		x.roleChunk()
	}
	if x.has(NoChoices) {
		x.emptyChunk()
	}
	finish := ""
	if ended && x.truth.OutputTokens+n == x.seq.target {
		finish = x.body.finishReason(x.server.cfg, x.seq)
	}
	x.event(n, finish)
	x.truth.Events = append(x.truth.Events, Sent{AtUS: x.server.clock.now(), Tokens: x.truth.OutputTokens - x.counted})
	x.counted = x.truth.OutputTokens
	sent := x.flush()
	x.truth.Events[len(x.truth.Events)-1].AfterUS = x.server.clock.now()
	return sent
}

// close sends the usage event and [DONE].
func (x *exchange) close(ctx context.Context, end string) string {
	if x.asksUsage() && !x.has(UsageInside) {
		if f, ok := x.fault(UsageLate); ok && !wait(ctx, f.Delay) {
			return gone
		}
		x.usageChunk()
	}
	if !x.has(NoDone) {
		x.done()
	}
	x.flush()
	return end
}

// flush hands what is ready to the kernel; false when the client is gone.
func (x *exchange) flush() bool {
	for piece := range x.style.Writes(x.out) {
		if _, err := x.w.Write(piece); err != nil || x.control.Flush() != nil {
			return false
		}
	}
	if len(x.out) == 0 { // the headers alone
		return x.control.Flush() == nil
	}
	x.out = x.out[:0]
	return true
}

// wait waits; false when ctx ended first.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
