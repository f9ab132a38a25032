package stream

import (
	"encoding/binary"
	"iter"

	"assay/runner/load/chunk"
)

// mark is a token event as the stream reader noted it.
type mark struct {
	atUS   int64
	output int64 // usage so far; -1 when the event had none
	ids    int
}

func newMark(atUS int64, c *chunk.Chunk, ids int) mark {
	m := mark{atUS: atUS, output: -1, ids: ids}
	if c.Usage {
		m.output = c.Output
	}
	return m
}

// marks are those of a response, packed, since there is one for each token in flight: 3 bytes each, for gaps up to a quarter of a second,
// where neither usage nor token ids come with them.
type marks struct {
	packed []byte
	n      int
	lastUS int64
}

func (ms *marks) reset() { *ms = marks{packed: kept(ms.packed)} }

// add packs the time since the mark before, and a bit that says whether a usage and ids follow.
func (ms *marks) add(m mark) {
	gap := m.atUS - ms.lastUS
	ms.lastUS = m.atUS
	ms.n++
	head := uint64(gap<<1^gap>>63) << 1
	if m.output < 0 && m.ids == 0 {
		ms.packed = binary.AppendUvarint(ms.packed, head)
		return
	}
	ms.packed = binary.AppendUvarint(ms.packed, head|1)
	ms.packed = binary.AppendUvarint(ms.packed, uint64(m.output+1))
	ms.packed = binary.AppendUvarint(ms.packed, uint64(m.ids))
}

// all unpacks them, with their numbers.
func (ms *marks) all() iter.Seq2[int, mark] {
	return func(yield func(int, mark) bool) {
		b, at := ms.packed, int64(0)
		next := func() uint64 {
			v, n := binary.Uvarint(b)
			b = b[n:]
			return v
		}
		for i := range ms.n {
			head := next()
			at += int64(head>>2) ^ -int64(head>>1&1)
			m := mark{atUS: at, output: -1}
			if head&1 == 1 {
				m.output, m.ids = int64(next())-1, int(next())
			}
			if !yield(i, m) {
				return
			}
		}
	}
}
