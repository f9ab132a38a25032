package sim

import "container/list"

// chain hashes a growing sequence of tokens block by block; a block's hash stands for all tokens up to its end.
type chain struct {
	size   int // tokens of a block
	hash   uint64
	tokens int
	blocks []uint64
	keep   bool
	ids    []int // the tokens, where they are kept
}

func newChain(size int) *chain { return &chain{size: size, hash: fnvOffset} }

// mark folds in what is no token, such as the role of a message.
func (c *chain) mark(s string) { c.hash = hashText(c.hash, s) }

// add appends one token.
func (c *chain) add(id int) {
	c.hash = mix(c.hash ^ uint64(id))
	c.tokens++
	if c.tokens%c.size == 0 {
		c.blocks = append(c.blocks, c.hash)
	}
	if c.keep {
		c.ids = append(c.ids, id)
	}
}

// open begins a message: its role, and the tokens that the template puts before it.
func (c *chain) open(role string, tokens int) {
	c.mark("<" + role + ">")
	for range tokens {
		c.add(template)
	}
}

// block is a full block of the KV cache that others can use too.
type block struct {
	hash  uint64
	users int
	idle  *list.Element // its place among those nobody uses; nil while somebody does
}

// pool is the KV cache. A block belongs to one sequence while it fills. Once it is full it is known by its hash and can be shared,
// and it stays known after its last user has left, until its place is needed.
type pool struct {
	total int
	free  int // blocks that hold nothing
	known map[uint64]*block
	idle  *list.List // of blocks; the front has been idle longest
}

func newPool(total int) *pool {
	return &pool{total: total, free: total, known: map[uint64]*block{}, idle: list.New()}
}

// used is the share of the blocks that sequences hold.
func (p *pool) used() float64 { return float64(p.total-p.free-p.idle.Len()) / float64(p.total) }

// share takes the leading blocks that are known.
func (p *pool) share(hashes []uint64) []*block {
	var held []*block
	for _, h := range hashes {
		b, ok := p.known[h]
		if !ok {
			break
		}
		if b.idle != nil {
			p.idle.Remove(b.idle)
			b.idle = nil
		}
		b.users++
		held = append(held, b)
	}
	return held
}

// take takes n blocks for what is to come, and forgets idle ones for it; false, and nothing taken, when there are too few.
func (p *pool) take(n int) bool {
	if n > p.free+p.idle.Len() {
		return false
	}
	for ; n > 0; n-- {
		if p.free == 0 {
			p.evict()
		}
		p.free--
	}
	return true
}

// evict forgets the block that has been idle longest.
func (p *pool) evict() {
	oldest := p.idle.Remove(p.idle.Front()).(*block)
	delete(p.known, oldest.hash)
	p.free++
}

// name makes a block that has filled known; nil when one with the same tokens already is, and it stays its sequence's own.
func (p *pool) name(hash uint64) *block {
	if p.known[hash] != nil {
		return nil
	}
	b := &block{hash: hash, users: 1}
	p.known[hash] = b
	return b
}

// release gives back what a sequence held. The end of a prompt is forgotten before its beginning.
func (p *pool) release(shared []*block, own int) {
	p.free += own
	for i := len(shared) - 1; i >= 0; i-- {
		b := shared[i]
		b.users--
		switch {
		case b.users > 0:
		case p.known[b.hash] == b:
			b.idle = p.idle.PushBack(b)
		default: // it was forgotten while in use
			p.free++
		}
	}
}

// forget makes every block unknown.
func (p *pool) forget() {
	for p.idle.Len() > 0 {
		p.evict()
	}
	clear(p.known)
}
