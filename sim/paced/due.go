package paced

// queue holds streams by when their next token is due, the first on top: a binary heap.
type queue []*stream

func (q *queue) push(s *stream) {
	*q = append(*q, s)
	h := *q
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 2
		if h[up].dueNS <= s.dueNS {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = s
}

// pop takes the first stream out; the queue is not empty.
func (q *queue) pop() *stream {
	h := *q
	top, last := h[0], h[len(h)-1]
	h[len(h)-1] = nil
	h = h[:len(h)-1]
	*q = h
	if len(h) > 0 {
		h.sink(last)
	}
	return top
}

// sink puts a stream into the hole at the top.
func (q queue) sink(s *stream) {
	i := 0
	for {
		down := 2*i + 1
		if down >= len(q) {
			break
		}
		if down+1 < len(q) && q[down+1].dueNS < q[down].dueNS {
			down++
		}
		if s.dueNS <= q[down].dueNS {
			break
		}
		q[i] = q[down]
		i = down
	}
	q[i] = s
}
