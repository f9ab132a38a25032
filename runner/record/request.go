package record

import (
	"encoding/binary"
	"fmt"
)

// appendRequest appends a request's whole block: the length of its head, the head, the events. spare is memory for the head.
func appendRequest(b, spare []byte, r *Request) (block, head []byte) {
	head = appendHead(spare[:0], r)
	at := len(b)
	b = openBlock(b, blockRequest)
	b = binary.AppendUvarint(b, uint64(len(head)))
	b = append(b, head...)
	b = appendEvents(b, r.Events)
	return closeBlock(b, at), head
}

// decodeRequest reads a request block's payload; its events come into the memory of room when that is large enough.
func decodeRequest(b []byte, room []Event) (Request, error) {
	in := varints{b: b}
	head := in.bytes()
	if in.err != nil {
		return Request{}, fmt.Errorf("the head's length is not right")
	}
	r, err := decodeHead(head)
	if err != nil {
		return Request{}, err
	}
	if r.Events, err = decodeEvents(in.b, room); err != nil {
		return Request{}, err
	}
	if r.FirstAnswer >= len(r.Events) || r.FirstAnswer < -1 {
		return Request{}, fmt.Errorf("the first answer's index %d is outside of %d events", r.FirstAnswer, len(r.Events))
	}
	return r, nil
}
