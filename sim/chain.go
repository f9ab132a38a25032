package sim

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
