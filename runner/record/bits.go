package record

import (
	"encoding/binary"
	"math/bits"
)

// A number is coded with a parameter k (Rice's code): what is above its low k bits as that many zeros and a one, then the low k bits. Far
// numbers, where it would take escape zeros, have just those, then their length less 1 in 6 bits, then that many bits. Bits fill bytes from the top.
const escape = 8

// bitWriter appends numbers to b.
type bitWriter struct {
	b    []byte
	last uint64 // its low n bits are not in b yet
	n    uint   // below 8
}

// put appends the n low bits of v, at most 56, which has no others.
func (w *bitWriter) put(v uint64, n uint) {
	w.last, w.n = w.last<<n|v, w.n+n
	for ; w.n >= 8; w.n -= 8 {
		w.b = append(w.b, byte(w.last>>(w.n-8)))
	}
}

func (w *bitWriter) number(v uint64, k uint) {
	if above := v >> k; above < escape {
		w.put(1<<k|v&(1<<k-1), uint(above)+1+k)
		return
	}
	n := uint(bits.Len64(v))
	w.put(uint64(n-1), escape+6)
	w.put(v>>(n/2), n-n/2)
	w.put(v&(1<<(n/2)-1), n/2)
}

// done gives what was written; zeros fill the last byte.
func (w *bitWriter) done() []byte {
	w.put(0, -w.n&7)
	return w.b
}

// bitReader reads numbers from b, and zeros beyond its end, which end finds.
type bitReader struct {
	b  []byte
	at uint // the next bit
}

// peek gives the next 57 bits or more at the top of a word.
func (r *bitReader) peek() uint64 {
	if i := r.at >> 3; i+8 <= uint(len(r.b)) {
		return binary.BigEndian.Uint64(r.b[i:]) << (r.at & 7)
	}
	return r.peekEnd()
}

func (r *bitReader) peekEnd() uint64 {
	var word [8]byte
	copy(word[:], r.b[min(r.at>>3, uint(len(r.b))):])
	return binary.BigEndian.Uint64(word[:]) << (r.at & 7)
}

func (r *bitReader) number(k uint) uint64 {
	word := r.peek()
	above := uint(bits.LeadingZeros64(word))
	if above >= escape {
		return r.escaped()
	}
	r.at += above + 1 + k
	return uint64(above)<<k | word<<(above+1)>>(64-k)
}

func (r *bitReader) escaped() uint64 {
	r.at += escape
	n := uint(r.take(6)) + 1
	high := r.take(n - n/2)
	return high<<(n/2) | r.take(n/2)
}

// take reads n bits, at most 57.
func (r *bitReader) take(n uint) uint64 {
	v := r.peek() >> (64 - n)
	r.at += n
	return v
}

// end is an error unless only the zeros that fill the last byte are left.
func (r *bitReader) end() error {
	if all := uint(len(r.b)) * 8; r.at > all || all-r.at >= 8 || r.peek() != 0 {
		return errNumbers
	}
	return nil
}
