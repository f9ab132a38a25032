package kv

import "container/list"

// Block is a full block of the KV cache that others can use too.
type Block struct {
	hash  uint64
	users int
	idle  *list.Element // its place among those nobody uses; nil while somebody does
}

// Pool is the KV cache. A block belongs to one sequence while it fills. Once it is full it is known by its hash and can be shared,
// and it stays known after its last user has left, until its place is needed.
type Pool struct {
	Total int // blocks
	free  int // blocks that hold nothing
	known map[uint64]*Block
	idle  *list.List // of blocks; the front has been idle longest
}

// NewPool makes one of so many blocks, which hold nothing.
func NewPool(total int) *Pool {
	return &Pool{Total: total, free: total, known: map[uint64]*Block{}, idle: list.New()}
}

// Used is the share of the blocks that sequences hold.
func (p *Pool) Used() float64 { return float64(p.Total-p.free-p.idle.Len()) / float64(p.Total) }

// Share takes the leading blocks that are known.
func (p *Pool) Share(hashes []uint64) []*Block {
	var held []*Block
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

// Take takes n blocks for what is to come, and forgets idle ones for it; false, and nothing taken, when there are too few.
func (p *Pool) Take(n int) bool {
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
func (p *Pool) evict() {
	oldest := p.idle.Remove(p.idle.Front()).(*Block)
	delete(p.known, oldest.hash)
	p.free++
}

// Name makes a block that has filled known; nil when one with the same tokens already is, and it stays its sequence's own.
func (p *Pool) Name(hash uint64) *Block {
	if p.known[hash] != nil {
		return nil
	}
	b := &Block{hash: hash, users: 1}
	p.known[hash] = b
	return b
}

// Release gives back what a sequence held. The end of a prompt is forgotten before its beginning.
func (p *Pool) Release(shared []*Block, own int) {
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

// Forget makes every block unknown.
func (p *Pool) Forget() {
	for p.idle.Len() > 0 {
		p.evict()
	}
	clear(p.known)
}
