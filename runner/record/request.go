package record

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
)

// head is a request without its events as its block holds it: JSON with short names, so that a reader in any language
// can follow and a later version can add members. Instants that did not come are left out.
type head struct {
	Index        int     `json:"i"`
	Warmup       bool    `json:"w,omitempty"`
	ID           string  `json:"id,omitempty"`
	Session      string  `json:"s,omitempty"`
	Turn         int     `json:"t,omitempty"`
	Intended     *int64  `json:"intended,omitempty"`
	Sent         *int64  `json:"sent,omitempty"`
	Connect      *int64  `json:"connect,omitempty"`
	FirstByte    *int64  `json:"first_byte,omitempty"`
	Done         *int64  `json:"done,omitempty"`
	Outcome      Outcome `json:"outcome"`
	Status       int     `json:"status,omitempty"`
	FinishReason string  `json:"finish,omitempty"`
	Error        string  `json:"error,omitempty"`
	RetryAfter   *int64  `json:"retry_after,omitempty"`
	Input        *int64  `json:"in,omitempty"`
	Output       *int64  `json:"out,omitempty"`
	Cached       *int64  `json:"cached,omitempty"`
	TokenSource  string  `json:"source,omitempty"`
	BytesIn      int64   `json:"bytes,omitempty"`
	SharedReads  int     `json:"shared,omitempty"`
	Retries      int     `json:"retries,omitempty"`
	FirstAnswer  *int    `json:"answer,omitempty"`
}

// known gives nil for Never.
func known(v int64) *int64 {
	if v == Never {
		return nil
	}
	return &v
}

// or gives Never for nil.
func or(v *int64) int64 {
	if v == nil {
		return Never
	}
	return *v
}

func headOf(r Request) head {
	h := head{
		Index: r.Index, Warmup: r.Warmup, ID: r.ID, Session: r.Session, Turn: r.Turn,
		Intended: known(r.IntendedUS), Sent: known(r.SentUS), Connect: known(r.ConnectUS),
		FirstByte: known(r.FirstByteUS), Done: known(r.DoneUS),
		Outcome: r.Outcome, Status: r.Status, FinishReason: r.FinishReason, Error: r.Error, RetryAfter: known(r.RetryAfterUS),
		Input: known(r.InputTokens), Output: known(r.OutputTokens), Cached: known(r.CachedTokens), TokenSource: r.TokenSource,
		BytesIn: r.BytesIn, SharedReads: r.SharedReads, Retries: r.Retries,
	}
	if r.FirstAnswer >= 0 {
		h.FirstAnswer = &r.FirstAnswer
	}
	return h
}

func (h head) request() Request {
	r := Request{
		Index: h.Index, Warmup: h.Warmup, ID: h.ID, Session: h.Session, Turn: h.Turn,
		IntendedUS: or(h.Intended), SentUS: or(h.Sent), ConnectUS: or(h.Connect),
		FirstByteUS: or(h.FirstByte), DoneUS: or(h.Done),
		Outcome: h.Outcome, Status: h.Status, FinishReason: h.FinishReason, Error: h.Error, RetryAfterUS: or(h.RetryAfter),
		InputTokens: or(h.Input), OutputTokens: or(h.Output), CachedTokens: or(h.Cached), TokenSource: h.TokenSource,
		BytesIn: h.BytesIn, SharedReads: h.SharedReads, Retries: h.Retries, FirstAnswer: -1,
	}
	if h.FirstAnswer != nil {
		r.FirstAnswer = *h.FirstAnswer
	}
	return r
}

// appendRequest appends a request's whole block.
func appendRequest(b []byte, r Request) ([]byte, error) {
	j, err := json.Marshal(headOf(r))
	if err != nil {
		return b, fmt.Errorf("encode request %d: %w", r.Index, err)
	}
	at := len(b)
	b = openBlock(b, blockRequest)
	b = binary.AppendUvarint(b, uint64(len(j)))
	b = append(b, j...)
	b = appendEvents(b, r.Events)
	return closeBlock(b, at), nil
}

// decodeRequest reads a request block's payload; its events come into the memory of room when that is large enough.
func decodeRequest(b []byte, room []Event) (Request, error) {
	in := varints{b: b}
	n := in.unsigned()
	if in.err != nil || n > uint64(len(in.b)) {
		return Request{}, fmt.Errorf("the head's length is not right")
	}
	var h head
	if err := json.Unmarshal(in.b[:n], &h); err != nil {
		return Request{}, fmt.Errorf("the head is not JSON: %w", err)
	}
	r := h.request()
	var err error
	if r.Events, err = decodeEvents(in.b[n:], room); err != nil {
		return Request{}, err
	}
	if r.FirstAnswer >= len(r.Events) || r.FirstAnswer < -1 {
		return Request{}, fmt.Errorf("the first answer's index %d is outside of %d events", r.FirstAnswer, len(r.Events))
	}
	return r, nil
}
