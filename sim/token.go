package sim

import "strings"

// vocabularySize is one more than the largest token id of a prompt.
const vocabularySize = 128_000

// template is the id of the tokens that a chat template adds.
const template = vocabularySize

// tokenizer makes tokens of text: a word between white space is one, and where TokenBytes is set every so many bytes of a word are. The
// words of replies are one token each, so that a reply that comes back in a prompt has as many tokens as it had.
type tokenizer struct {
	words []string // of replies; a token's id is its place
	ids   map[string]int
	bytes int // of a token; 0: a word is one
}

func newTokenizer(bytes int) tokenizer {
	t := tokenizer{bytes: bytes, ids: map[string]int{}}
	for w := range strings.FieldsSeq(vocabulary) {
		if _, known := t.ids[w]; known || bytes > 0 && len(w) > bytes {
			continue
		}
		t.ids[w] = len(t.words)
		t.words = append(t.words, w)
	}
	return t
}

// add appends the tokens of text to c.
func (t tokenizer) add(c *chain, text string) {
	for w := range strings.FieldsSeq(text) {
		for t.bytes > 0 && len(w) > t.bytes {
			c.add(t.id(w[:t.bytes]))
			w = w[t.bytes:]
		}
		c.add(t.id(w))
	}
}

// id is the place of a word of replies, and a number behind those for any other.
func (t tokenizer) id(word string) int {
	if id, ok := t.ids[word]; ok {
		return id
	}
	n := uint64(len(t.words))
	return int(n + hashText(fnvOffset, word)%(vocabularySize-n))
}
