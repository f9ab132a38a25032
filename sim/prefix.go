package sim

import "container/list"

// chain hashes a growing sequence of tokens block by block; a block's hash stands for all tokens up to its end.
type chain struct {
	size   int // tokens of a block
	hash   uint64
	tokens int
	blocks []uint64
}

func newChain(size int) *chain { return &chain{size: size, hash: fnvOffset} }

// mark folds in what is no token, such as the role of a message.
func (c *chain) mark(s string) { c.hash = hashText(c.hash, s) }

// add appends one token.
func (c *chain) add(token string) {
	c.hash = hashText(c.hash, token)
	c.tokens++
	if c.tokens%c.size == 0 {
		c.blocks = append(c.blocks, c.hash)
	}
}

// prefixCache remembers blocks, the least recently used going first.
type prefixCache struct {
	limit int
	order *list.List // front is newest
	place map[uint64]*list.Element
}

func newPrefixCache(limit int) *prefixCache {
	return &prefixCache{limit: limit, order: list.New(), place: map[uint64]*list.Element{}}
}

// hits counts the leading blocks that are known.
func (p *prefixCache) hits(blocks []uint64) int {
	for i, b := range blocks {
		e, ok := p.place[b]
		if !ok {
			return i
		}
		p.order.MoveToFront(e)
	}
	return len(blocks)
}

// insert makes blocks known.
func (p *prefixCache) insert(blocks []uint64) {
	for _, b := range blocks {
		if e, ok := p.place[b]; ok {
			p.order.MoveToFront(e)
			continue
		}
		p.place[b] = p.order.PushFront(b)
		if p.order.Len() > p.limit {
			delete(p.place, p.order.Remove(p.order.Back()).(uint64))
		}
	}
}
