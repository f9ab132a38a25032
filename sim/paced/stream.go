package paced

// conn is a client's connection.
type conn struct {
	fd      int
	in      []byte // begun request
	need    int    // bytes that it takes to be whole; 0 while unknown
	stream  *stream
	writing bool // it waits until the kernel takes more
}

// stream is a request that is being answered.
type stream struct {
	conn    *conn
	truth   Truth
	dueNS   int64
	left    int // token events to send
	usage   bool
	opened  bool
	event   []byte // with a hole
	at      int    // index of that hole
	pending []byte // what the kernel did not take yet
}

func newStream(c *conn, n uint64, q request, arrivedNS int64) *stream {
	s := &stream{conn: c, left: q.tokens, usage: q.usage, truth: Truth{N: n, ArrivedNS: arrivedNS, SentNS: make([]int64, 0, q.tokens)}}
	s.event, s.at = tokenEvent(n, "null")
	return s
}

// events appends the next k token events, sent at an instant; the last one of the stream tells that it is.
func (s *stream) events(to []byte, k int, nowNS int64) []byte {
	for range k {
		if s.left == 1 {
			s.event, s.at = tokenEvent(s.truth.N, `"length"`)
		}
		writeHex(s.event[s.at:], nowNS)
		s.truth.SentNS = append(s.truth.SentNS, nowNS)
		s.left--
		to = append(to, s.event...)
	}
	return to
}
