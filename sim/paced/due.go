package paced

// queue holds streams by when their next token is due, the first on top: a binary heap. The instants lie in it, so that keeping
// thousands of streams in order touches none of them.
type queue []turn

// turn is when a stream's next token is due.
type turn struct {
	dueNS  int64
	stream *stream
}

func (q *queue) push(s *stream) {
	t := turn{s.dueNS, s}
	*q = append(*q, t)
	h := *q
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 2
		if h[up].dueNS <= t.dueNS {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = t
}

// pop takes the first stream out; the queue is not empty.
func (q *queue) pop() *stream {
	h := *q
	top, last := h[0], h[len(h)-1]
	h[len(h)-1] = turn{}
	h = h[:len(h)-1]
	*q = h
	if len(h) > 0 {
		h.sink(last)
	}
	return top.stream
}

// sink puts a turn into the hole at the top.
func (q queue) sink(t turn) {
	i := 0
	for {
		down := 2*i + 1
		if down >= len(q) {
			break
		}
		if down+1 < len(q) && q[down+1].dueNS < q[down].dueNS {
			down++
		}
		if t.dueNS <= q[down].dueNS {
			break
		}
		q[i] = q[down]
		i = down
	}
	q[i] = t
}
