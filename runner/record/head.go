package record

import (
	"encoding/binary"
	"errors"
)

var errHead = errors.New("its head cannot be decoded")

// The head of a request is a list of fields in ascending order: a key that is the field's number and kind, then the value. What did not
// happen, was not told, or is zero is left out, and the outcome ok. A reader skips numbers that it does not know, so that a later version can add some.
const (
	kindNumber = 0 // varint
	kindText   = 1 // uvarint length, bytes
)

// The numbers of the fields (docs/recording.md).
const (
	fieldIndex = iota + 1
	fieldWarmup
	fieldID
	fieldSession
	fieldTurn
	fieldIntended
	fieldSent
	fieldConnect
	fieldFirstByte
	fieldDone
	fieldOutcome
	fieldStatus
	fieldFinish
	fieldError
	fieldRetryAfter
	fieldInput
	fieldOutput
	fieldCached
	fieldSource
	fieldBytes
	fieldShared
	fieldRetries
	fieldAnswer
	fieldReasoning
)

// fields appends fields to a head.
type fields struct{ b []byte }

// number writes a number unless it is none.
func (f *fields) number(key uint64, v, none int64) {
	if v != none {
		f.b = binary.AppendVarint(binary.AppendUvarint(f.b, key<<1|kindNumber), v)
	}
}

func (f *fields) text(key uint64, s string) {
	if s != "" {
		f.b = binary.AppendUvarint(binary.AppendUvarint(f.b, key<<1|kindText), uint64(len(s)))
		f.b = append(f.b, s...)
	}
}

// since writes an instant as the time since base.
func (f *fields) since(key uint64, us, base int64) {
	if us != Never {
		f.b = binary.AppendVarint(binary.AppendUvarint(f.b, key<<1|kindNumber), us-base)
	}
}

// base is what the instants of a request count from: its intended one, or time 0 where it has none.
func base(r *Request) int64 {
	if r.IntendedUS == Never {
		return 0
	}
	return r.IntendedUS
}

// appendHead encodes all of a request but its events.
func appendHead(b []byte, r *Request) []byte {
	f := fields{b}
	f.number(fieldIndex, int64(r.Index), 0)
	if r.Warmup {
		f.number(fieldWarmup, 1, 0)
	}
	f.text(fieldID, r.ID)
	f.text(fieldSession, r.Session)
	f.number(fieldTurn, int64(r.Turn), 0)
	f.number(fieldIntended, r.IntendedUS, Never)
	f.since(fieldSent, r.SentUS, base(r))
	f.number(fieldConnect, r.ConnectUS, Never)
	f.since(fieldFirstByte, r.FirstByteUS, base(r))
	f.since(fieldDone, r.DoneUS, base(r))
	if r.Outcome != OK {
		f.text(fieldOutcome, string(r.Outcome))
	}
	f.number(fieldStatus, int64(r.Status), 0)
	f.text(fieldFinish, r.FinishReason)
	f.text(fieldError, r.Error)
	f.number(fieldRetryAfter, r.RetryAfterUS, Never)
	f.number(fieldInput, r.InputTokens, Never)
	f.number(fieldOutput, r.OutputTokens, Never)
	f.number(fieldCached, r.CachedTokens, Never)
	f.text(fieldSource, r.TokenSource)
	f.number(fieldBytes, r.BytesIn, 0)
	f.number(fieldShared, int64(r.SharedReads), 0)
	f.number(fieldRetries, int64(r.Retries), 0)
	f.number(fieldAnswer, int64(r.FirstAnswer), -1)
	f.number(fieldReasoning, r.ReasoningTokens, 0)
	return f.b
}

// decodeHead reads what appendHead wrote; b holds nothing else.
func decodeHead(b []byte) (Request, error) {
	r := Request{Outcome: OK, IntendedUS: Never, SentUS: Never, ConnectUS: Never, FirstByteUS: Never, DoneUS: Never, RetryAfterUS: Never,
		InputTokens: Never, OutputTokens: Never, CachedTokens: Never, FirstAnswer: -1}
	in := varints{b: b}
	for last := uint64(0); len(in.b) > 0 && in.err == nil; {
		key := in.unsigned()
		if key>>1 <= last {
			return r, errHead
		}
		last = key >> 1
		if key&1 == kindText {
			r.setText(last, in.bytes())
		} else {
			r.setNumber(last, in.signed())
		}
	}
	if in.err != nil {
		return r, errHead
	}
	return r, nil
}

func (r *Request) setText(field uint64, b []byte) {
	switch field {
	case fieldID:
		r.ID = string(b)
	case fieldSession:
		r.Session = string(b)
	case fieldOutcome:
		r.Outcome = Outcome(b)
	case fieldFinish:
		r.FinishReason = string(b)
	case fieldError:
		r.Error = string(b)
	case fieldSource:
		r.TokenSource = string(b)
	}
}

func (r *Request) setNumber(field uint64, v int64) {
	switch field {
	case fieldIndex:
		r.Index = int(v)
	case fieldWarmup:
		r.Warmup = v != 0
	case fieldTurn:
		r.Turn = int(v)
	case fieldIntended:
		r.IntendedUS = v
	case fieldSent:
		r.SentUS = base(r) + v
	case fieldConnect:
		r.ConnectUS = v
	case fieldFirstByte:
		r.FirstByteUS = base(r) + v
	case fieldDone:
		r.DoneUS = base(r) + v
	case fieldStatus:
		r.Status = int(v)
	case fieldRetryAfter:
		r.RetryAfterUS = v
	case fieldInput:
		r.InputTokens = v
	case fieldOutput:
		r.OutputTokens = v
	case fieldCached:
		r.CachedTokens = v
	case fieldBytes:
		r.BytesIn = v
	case fieldShared:
		r.SharedReads = int(v)
	case fieldRetries:
		r.Retries = int(v)
	case fieldAnswer:
		r.FirstAnswer = int(v)
	case fieldReasoning:
		r.ReasoningTokens = v
	}
}
