package record

import (
	"encoding/binary"
	"errors"
	"slices"
)

// Events are kept as varints: their number, the first time, then each gap's difference to the middle one of the three gaps before it, at
// last the token counts as runs of equal values. The middle of three follows a steady stream and passes over single late chunks: about
// 2.05 bytes a token in practice, where the difference to the gap before it alone takes 2.09.

var errVarint = errors.New("its numbers cannot be decoded")

// appendEvents encodes events after b.
func appendEvents(b []byte, events []Event) []byte {
	b = binary.AppendUvarint(b, uint64(len(events)))
	if len(events) == 0 {
		return b
	}
	b = binary.AppendVarint(b, events[0].AtUS)
	var last gaps
	for i := 1; i < len(events); i++ {
		gap := events[i].AtUS - events[i-1].AtUS
		b = binary.AppendVarint(b, gap-last.middle())
		last.push(gap)
	}
	return appendTokens(b, events)
}

// gaps are the last three gaps of a stream, 0 where there was none yet.
type gaps struct{ a, b, c int64 }

func (g *gaps) push(gap int64) { g.a, g.b, g.c = g.b, g.c, gap }

func (g *gaps) middle() int64 { return max(min(g.a, g.b), min(max(g.a, g.b), g.c)) }

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
	x := v.unsigned()
	return int64(x>>1) ^ -int64(x&1)
}

// unsigned reads most numbers, which have one or two bytes, by itself: a recording has tens of millions of them.
func (v *varints) unsigned() uint64 {
	if b := v.b; len(b) >= 2 {
		if b[0] < 0x80 {
			v.b = b[1:]
			return uint64(b[0])
		}
		if b[1] < 0x80 {
			v.b = b[2:]
			return uint64(b[0]&0x7f) | uint64(b[1])<<7
		}
	}
	return v.long()
}

func (v *varints) long() uint64 {
	x, n := binary.Uvarint(v.b)
	if n <= 0 {
		v.err, v.b = errVarint, nil
		return 0
	}
	v.b = v.b[n:]
	return x
}

// bytes reads a length and that many bytes, which stay those of the slice.
func (v *varints) bytes() []byte {
	n := v.unsigned()
	if n > uint64(len(v.b)) {
		v.err, v.b = errVarint, nil
		return nil
	}
	b := v.b[:n]
	v.b = v.b[n:]
	return b
}

// rest is an error when something is left or failed.
func (v *varints) rest() error {
	if v.err == nil && len(v.b) > 0 {
		return errVarint
	}
	return v.err
}

// decodeEvents reads what appendEvents wrote into the memory of room, or new memory when that is too small; b holds nothing else.
func decodeEvents(b []byte, room []Event) ([]Event, error) {
	in := varints{b: b}
	n := in.unsigned()
	if in.err != nil || n > uint64(len(in.b)) { // each event takes a byte at least
		return nil, errVarint
	}
	if n == 0 {
		return nil, in.rest()
	}
	events := slices.Grow(room[:0], int(n))[:n]
	decodeTimes(&in, events)
	decodeTokens(&in, events)
	if err := in.rest(); err != nil {
		return nil, err
	}
	return events, nil
}

func decodeTimes(in *varints, events []Event) {
	at := in.signed()
	events[0].AtUS = at
	own, last := *in, gaps{} // a copy stays in registers
	for i := 1; i < len(events); i++ {
		gap := last.middle() + own.signed()
		last.push(gap)
		at += gap
		events[i].AtUS = at
	}
	*in = own
}

func decodeTokens(in *varints, events []Event) {
	for len(events) > 0 && in.err == nil {
		n, tokens := in.unsigned(), in.signed()
		if n == 0 || n > uint64(len(events)) {
			in.err = errVarint
			return
		}
		for i := range events[:n] {
			events[i].Tokens = tokens
		}
		events = events[n:]
	}
}
