package record

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// The file's frame (docs/recording.md): magic and version, then blocks of kind, length, payload and CRC-32C.
const (
	magic      = "ASSAYREC"
	version    = 2
	maxPayload = 1 << 30

	blockHeader  = 'H'
	blockRequest = 'R'
	blockTrailer = 'T'

	frameHead = 5 // kind and length
	frameTail = 4 // checksum
)

// errTorn says that the file ends inside a block.
var errTorn = errors.New("the file ends inside a block")

// CorruptError names the block that could not be read.
type CorruptError struct {
	Offset int64 // of the block's first byte
	Why    string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("recording is corrupt at byte %d: %s", e.Offset, e.Why)
}

// castagnoli makes the table of CRC-32C; the library keeps one for all callers.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// openBlock starts a block in b and returns it with room for the length.
func openBlock(b []byte, kind byte) []byte {
	return append(b, kind, 0, 0, 0, 0)
}

// closeBlock fills in the length of the block that starts at b[at] and appends its checksum.
func closeBlock(b []byte, at int) []byte {
	binary.LittleEndian.PutUint32(b[at+1:], uint32(len(b)-at-frameHead))
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[at:], castagnoli()))
}

// blockReader reads blocks one after another and knows where each began.
type blockReader struct {
	in     *bufio.Reader
	offset int64 // of the next unread byte
	start  int64 // of the block read last
	buf    []byte
}

// preamble reads magic and version.
func (r *blockReader) preamble() error {
	var b [len(magic) + 4]byte
	n, err := io.ReadFull(r.in, b[:])
	r.offset += int64(n)
	if err != nil && !ended(err) {
		return err
	}
	if string(b[:min(n, len(magic))]) != magic[:min(n, len(magic))] {
		return &CorruptError{0, "it does not begin as a recording does"}
	}
	if err != nil {
		return errTorn
	}
	if v := binary.LittleEndian.Uint32(b[len(magic):]); v != version {
		return &CorruptError{int64(len(magic)), fmt.Sprintf("format version %d is not known, only %d", v, version)}
	}
	return nil
}

// next reads one block. io.EOF stands for the end between two blocks, errTorn for the end inside one. The payload is
// valid until the next call.
func (r *blockReader) next() (kind byte, payload []byte, err error) {
	r.start = r.offset
	var head [frameHead]byte
	n, err := io.ReadFull(r.in, head[:])
	r.offset += int64(n)
	if errors.Is(err, io.EOF) {
		return 0, nil, io.EOF
	}
	if err != nil {
		return 0, nil, torn(err)
	}
	size := binary.LittleEndian.Uint32(head[1:])
	if size > maxPayload {
		return 0, nil, &CorruptError{r.start, fmt.Sprintf("a block of %d bytes is longer than any", size)}
	}
	if err := r.fill(int64(size) + frameTail); err != nil {
		return 0, nil, err
	}
	body, sum := r.buf[:size], binary.LittleEndian.Uint32(r.buf[size:])
	crc := crc32.Update(crc32.Checksum(head[:], castagnoli()), castagnoli(), body)
	if crc != sum {
		return 0, nil, &CorruptError{r.start, fmt.Sprintf("checksum is %08x, the block says %08x", crc, sum)}
	}
	return head[0], body, nil
}

// fill reads n bytes into buf; the buffer grows with what is really there, not with what a length claims.
func (r *blockReader) fill(n int64) error {
	r.buf = r.buf[:0]
	for int64(len(r.buf)) < n {
		step := min(n-int64(len(r.buf)), 1<<20)
		at := len(r.buf)
		r.buf = append(r.buf, make([]byte, step)...)
		got, err := io.ReadFull(r.in, r.buf[at:])
		r.offset += int64(got)
		if err != nil {
			return torn(err)
		}
	}
	return nil
}

func ended(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// torn turns an early end into errTorn and leaves other read errors as they are.
func torn(err error) error {
	if ended(err) {
		return errTorn
	}
	return err
}
