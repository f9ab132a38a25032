package sim

import (
	"context"
	"io"
	"net/http"
)

// whole waits for the reply and sends it in one piece. Faults of a stream do not apply.
func (x *exchange) whole(ctx context.Context) string {
	for {
		made, ended, cached := x.seq.progress()
		if ended {
			x.truth.OutputTokens, x.truth.CachedTokens = made, cached
			break
		}
		select {
		case <-ctx.Done():
			return gone
		case <-x.seq.wake:
		}
	}
	reason := x.body.finishReason(x.server.cfg, x.seq)
	sent := Sent{AtUS: x.server.clock.now(), Tokens: x.truth.OutputTokens}
	x.truth.HeadersUS = sent.AtUS
	writeJSON(x.w, http.StatusOK, x.document(reason))
	sent.AfterUS = x.server.clock.now()
	x.truth.Events = []Sent{sent}
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
	doc := map[string]any{"id": x.truth.ID, "object": object, "created": x.created, "model": x.server.cfg.Model,
		"choices": []any{choice}, "system_fingerprint": Version}
	if !x.has(UsageNone) {
		u := x.usage()
		doc["usage"], x.truth.Told = u, u.Completion
	}
	return doc
}

// message splits the reply into reasoning and content where the engine reasons.
func (x *exchange) message(n int) map[string]any {
	text, cut := x.seq.reply.text(n), min(n, x.server.cfg.Reasoning)
	if cut == 0 {
		return map[string]any{"role": "assistant", "content": text}
	}
	head := x.seq.reply.text(cut)
	return map[string]any{"role": "assistant", x.server.cfg.ReasoningField: head, "content": text[len(head):]}
}

// page answers as a server does that is not the one that was meant.
func (x *exchange) page() string {
	x.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(x.w, "<!DOCTYPE html><title>It works</title><p>It works.</p>\n") // the client may be gone
	return string(Page)
}
