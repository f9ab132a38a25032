package sim

import (
	"context"
	"net/http"
	"strconv"
	"time"
)

// exchange is one request with its answer.
type exchange struct {
	server  *Server
	w       http.ResponseWriter
	body    body
	chat    bool
	created int64
	seq     *sequence
	fault   Fault
	faulty  bool
	truth   Truth
	buf     []byte
}

// usage is OpenAI's usage object.
type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Total      int `json:"total_tokens"`
	Completion int `json:"completion_tokens"`
	Details    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

func (x *exchange) usage() usage {
	u := usage{Prompt: x.truth.InputTokens, Completion: x.truth.OutputTokens, Total: x.truth.InputTokens + x.truth.OutputTokens}
	u.Details.Cached = x.truth.CachedTokens
	return u
}

// answer sends the reply and records how it ended.
func (x *exchange) answer(ctx context.Context) {
	x.truth.Status = http.StatusOK
	if x.body.Stream {
		x.truth.End = x.stream(ctx)
	} else {
		x.truth.End = x.whole(ctx)
	}
	x.server.engine.count(countedAs(x.truth.End), x.seq.arrived)
	if x.truth.End == string(Cut) {
		x.server.engine.abandon(x.seq)
		panic(http.ErrAbortHandler) // the only way to close the connection without ending the body
	}
}

// countedAs gives the engine's counter for an end.
func countedAs(end string) string {
	switch end {
	case "stop", "length":
		return end
	case string(ErrorFrame), string(Cut), string(Truncate):
		return "error"
	}
	return "abort"
}

// stream sends event after event until the reply, a fault or the client ends it.
func (x *exchange) stream(ctx context.Context) string {
	h := x.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	x.w.WriteHeader(http.StatusOK)
	x.flush()
	for {
		made, ended, cached := x.server.engine.progress(x.seq)
		x.truth.CachedTokens = cached
		for n := x.take(made, ended); n > 0; n = x.take(made, ended) {
			if end := x.trip(ctx); end != "" {
				return end
			}
			if !x.send(n, ended) {
				return "gone"
			}
		}
		if ended && x.truth.OutputTokens >= made {
			if end := x.trip(ctx); end != "" {
				return end
			}
			return x.close(x.body.finishReason(x.server.cfg, x.seq))
		}
		select {
		case <-ctx.Done():
			return "gone"
		case <-x.seq.wake:
		}
	}
}

// take says how many of the made tokens the next event carries; 0 waits for more.
func (x *exchange) take(made int, ended bool) int {
	left, want := made-x.truth.OutputTokens, x.server.cfg.ChunkTokens
	if x.truth.OutputTokens == 0 {
		want = 1 // the first token never waits
	}
	if x.faulty && x.truth.OutputTokens < x.fault.AtToken {
		want = min(want, x.fault.AtToken-x.truth.OutputTokens)
	}
	if x.reasoning() {
		want = min(want, x.server.cfg.Reasoning-x.truth.OutputTokens)
	}
	if left >= want || ended {
		return min(left, want)
	}
	return 0
}

// trip does the request's fault when its token is reached; the end it caused, or "" to go on.
func (x *exchange) trip(ctx context.Context) string {
	if !x.faulty || x.truth.OutputTokens != x.fault.AtToken {
		return ""
	}
	switch x.fault.Kind {
	case Cut, Truncate:
		return string(x.fault.Kind)
	case Abort:
		x.event(0, "abort")
		return x.close("abort")
	case ErrorFrame:
		x.buf = append(x.buf[:0], `data: {"error": {"message": "simulated engine failure", "type": "InternalServerError", "param": null, "code": 500}}`...)
		x.buf = append(x.buf, "\n\ndata: [DONE]\n\n"...)
		x.flush()
		return string(ErrorFrame)
	}
	x.faulty = false
	timer := time.NewTimer(x.fault.Delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return "gone"
	case <-timer.C:
		return ""
	}
}

// send writes an event of n tokens and notes when; false when the client is gone.
func (x *exchange) send(n int, ended bool) bool {
	x.buf = x.buf[:0]
	if x.chat && x.truth.OutputTokens == 0 {
		x.role()
	}
	finish := ""
	if ended && x.truth.OutputTokens+n == x.seq.target {
		finish = x.body.finishReason(x.server.cfg, x.seq)
	}
	x.event(n, finish)
	x.truth.Events = append(x.truth.Events, Sent{AtUS: x.server.clock.now(), Tokens: n})
	return x.flush()
}

// close sends the usage event and [DONE].
func (x *exchange) close(end string) string {
	if o := x.body.StreamOptions; o != nil && o.IncludeUsage {
		x.open()
		x.buf = append(x.buf, `"choices":[],"usage":`...)
		x.appendUsage()
		x.buf = append(x.buf, "}\n\n"...)
	}
	x.buf = append(x.buf, "data: [DONE]\n\n"...)
	x.flush()
	return end
}

// open begins an event up to its choices.
func (x *exchange) open() {
	object := "text_completion"
	if x.chat {
		object = "chat.completion.chunk"
	}
	x.buf = append(x.buf, `data: {"id":"`...)
	x.buf = append(x.buf, x.truth.ID...)
	x.buf = append(x.buf, `","object":"`...)
	x.buf = append(x.buf, object...)
	x.buf = append(x.buf, `","created":`...)
	x.buf = strconv.AppendInt(x.buf, x.created, 10)
	x.buf = append(x.buf, `,"model":`...)
	x.buf = strconv.AppendQuote(x.buf, x.server.cfg.Model)
	x.buf = append(x.buf, ',')
}

// role appends chat's first event, which carries no token.
func (x *exchange) role() {
	x.open()
	x.buf = append(x.buf, `"choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]`...)
	x.endEvent()
}

// event appends an event with the next n tokens, which count as sent from here on.
func (x *exchange) event(n int, finish string) {
	x.open()
	x.buf = append(x.buf, `"choices":[{"index":0,`...)
	switch {
	case x.chat && n == 0:
		x.buf = append(x.buf, `"delta":{`...)
	case x.chat && x.reasoning():
		x.buf = append(x.buf, `"delta":{"reasoning_content":"`...)
	case x.chat:
		x.buf = append(x.buf, `"delta":{"content":"`...)
	default:
		x.buf = append(x.buf, `"text":"`...)
	}
	from := x.truth.OutputTokens
	x.truth.OutputTokens += n
	for i := from; i < x.truth.OutputTokens; i++ {
		if i > 0 {
			x.buf = append(x.buf, ' ')
		}
		x.buf = append(x.buf, x.seq.reply.word(i)...)
	}
	if n > 0 || !x.chat {
		x.buf = append(x.buf, '"')
	}
	if x.chat {
		x.buf = append(x.buf, '}')
	}
	x.buf = append(x.buf, `,"logprobs":null,"finish_reason":`...)
	if finish == "" {
		x.buf = append(x.buf, "null"...)
	} else {
		x.buf = strconv.AppendQuote(x.buf, finish)
	}
	if x.body.ReturnTokenIDs {
		x.appendIDs(from)
	}
	x.buf = append(x.buf, "}]"...)
	x.endEvent()
}

// reasoning says whether the next token is part of the reasoning.
func (x *exchange) reasoning() bool { return x.chat && x.truth.OutputTokens < x.server.cfg.Reasoning }

func (x *exchange) appendIDs(from int) {
	x.buf = append(x.buf, `,"token_ids":[`...)
	for i := from; i < x.truth.OutputTokens; i++ {
		if i > from {
			x.buf = append(x.buf, ',')
		}
		x.buf = strconv.AppendInt(x.buf, int64(x.seq.reply.token(i)), 10)
	}
	x.buf = append(x.buf, ']')
}

// endEvent closes an event, with the usage so far when the client asked for it in every event.
func (x *exchange) endEvent() {
	if o := x.body.StreamOptions; o != nil && o.IncludeUsage && o.ContinuousUsageStats {
		x.buf = append(x.buf, `,"usage":`...)
		x.appendUsage()
	}
	x.buf = append(x.buf, "}\n\n"...)
}

func (x *exchange) appendUsage() {
	u := x.usage()
	for _, part := range []struct {
		key   string
		value int
	}{{`{"prompt_tokens":`, u.Prompt}, {`,"total_tokens":`, u.Total}, {`,"completion_tokens":`, u.Completion}, {`,"prompt_tokens_details":{"cached_tokens":`, u.Details.Cached}} {
		x.buf = append(x.buf, part.key...)
		x.buf = strconv.AppendInt(x.buf, int64(part.value), 10)
	}
	x.buf = append(x.buf, "}}"...)
}

// flush hands what is buffered to the kernel; false when the client is gone.
func (x *exchange) flush() bool {
	if _, err := x.w.Write(x.buf); err != nil {
		return false
	}
	x.buf = x.buf[:0]
	return http.NewResponseController(x.w).Flush() == nil
}

// whole waits for the reply and sends it in one piece. Faults of a stream do not apply.
func (x *exchange) whole(ctx context.Context) string {
	for {
		made, ended, cached := x.server.engine.progress(x.seq)
		if ended {
			x.truth.OutputTokens, x.truth.CachedTokens = made, cached
			break
		}
		select {
		case <-ctx.Done():
			return "gone"
		case <-x.seq.wake:
		}
	}
	reason := x.body.finishReason(x.server.cfg, x.seq)
	x.truth.Events = []Sent{{AtUS: x.server.clock.now(), Tokens: x.truth.OutputTokens}}
	writeJSON(x.w, http.StatusOK, x.document(reason))
	return reason
}

// document is the reply that is not streamed.
func (x *exchange) document(reason string) map[string]any {
	n := x.truth.OutputTokens
	choice := map[string]any{"index": 0, "logprobs": nil, "finish_reason": reason}
	object := "text_completion"
	if x.chat {
		object = "chat.completion"
		choice["message"] = x.message(n)
	} else {
		choice["text"] = x.seq.reply.text(n)
	}
	if x.body.ReturnTokenIDs {
		ids := make([]int, n)
		for i := range ids {
			ids[i] = x.seq.reply.token(i)
		}
		choice["token_ids"] = ids
	}
	return map[string]any{"id": x.truth.ID, "object": object, "created": x.created, "model": x.server.cfg.Model,
		"choices": []any{choice}, "usage": x.usage(), "system_fingerprint": Version}
}

// message splits the reply into reasoning and content where the engine reasons.
func (x *exchange) message(n int) map[string]any {
	text, cut := x.seq.reply.text(n), min(n, x.server.cfg.Reasoning)
	if cut == 0 {
		return map[string]any{"role": "assistant", "content": text}
	}
	head := x.seq.reply.text(cut)
	return map[string]any{"role": "assistant", "reasoning_content": head, "content": text[len(head):]}
}
