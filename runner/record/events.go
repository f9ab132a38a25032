package record

import (
	"encoding/binary"
	"errors"
	"slices"
)

// Events are kept as varints: their number, the first time, then each gap's change from the gap before it (steady
// streams have small changes), at last the token counts as runs of equal values. About 2.1 bytes a token in practice.

var errEvents = errors.New("its events cannot be decoded")

// appendEvents encodes events after b.
func appendEvents(b []byte, events []Event) []byte {
	b = binary.AppendUvarint(b, uint64(len(events)))
	if len(events) == 0 {
		return b
	}
	b = binary.AppendVarint(b, events[0].AtUS)
	var gap int64
	for i := 1; i < len(events); i++ {
		next := events[i].AtUS - events[i-1].AtUS
		b = binary.AppendVarint(b, next-gap)
		gap = next
	}
	return appendTokens(b, events)
}

// appendTokens encodes the token counts: length and value of each run.
func appendTokens(b []byte, events []Event) []byte {
	for i := 0; i < len(events); {
		n := 1
		for i+n < len(events) && events[i+n].Tokens == events[i].Tokens {
			n++
		}
		b = binary.AppendUvarint(b, uint64(n))
		b = binary.AppendVarint(b, events[i].Tokens)
		i += n
	}
	return b
}

// varints reads integers from the front of a slice and remembers the first failure.
type varints struct {
	b   []byte
	err error
}

func (v *varints) signed() int64 {
	x, n := binary.Varint(v.b)
	v.take(n)
	return x
}

func (v *varints) unsigned() uint64 {
	x, n := binary.Uvarint(v.b)
	v.take(n)
	return x
}

func (v *varints) take(n int) {
	if n <= 0 {
		v.err, v.b = errEvents, nil
		return
	}
	v.b = v.b[n:]
}

// decodeEvents reads what appendEvents wrote into the memory of room, or new memory when that is too small; b holds nothing else.
func decodeEvents(b []byte, room []Event) ([]Event, error) {
	in := varints{b: b}
	n := in.unsigned()
	if in.err != nil || n > uint64(len(in.b)) { // each event takes a byte at least
		return nil, errEvents
	}
	if n == 0 && len(in.b) == 0 {
		return nil, nil
	}
	events := slices.Grow(room[:0], int(n))[:n]
	decodeTimes(&in, events)
	decodeTokens(&in, events)
	if in.err != nil || len(in.b) != 0 {
		return nil, errEvents
	}
	return events, nil
}

func decodeTimes(in *varints, events []Event) {
	var at, gap int64
	for i := range events {
		d := in.signed()
		if i == 0 {
			at = d
		} else {
			gap += d
			at += gap
		}
		events[i].AtUS = at
	}
}

func decodeTokens(in *varints, events []Event) {
	for len(events) > 0 && in.err == nil {
		n, tokens := in.unsigned(), in.signed()
		if n == 0 || n > uint64(len(events)) {
			in.err = errEvents
			return
		}
		for i := range events[:n] {
			events[i].Tokens = tokens
		}
		events = events[n:]
	}
}
