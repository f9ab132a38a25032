package length

import (
	"context"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"assay/fault"
	"assay/runner/dataset"
)

const (
	firstRatio = 4.3 // bytes of English text for a token
	tries      = 6   // of a cut
	fewWords   = 6   // so many words may stand behind a text to make up its length
	nearBlank  = 64  // bytes before a cut within which it is moved to a blank
)

// Cutter cuts texts by the rule while ctx lasts; nil where it knows no better than words.
func (r Rule) Cutter(ctx context.Context, cfg Config) dataset.Cutter {
	c := &cutter{ctx: ctx, cfg: cfg, rule: r, ratio: firstRatio}
	switch r.Way {
	case ByIDs:
		return c.ids
	case ByTokenizer, ByUsage:
		return c.text
	}
	return nil
}

// cutter remembers how many bytes of text a token took.
type cutter struct {
	ctx   context.Context // of the point: a dataset.Cutter takes none
	cfg   Config
	rule  Rule
	ratio float64
	base  int // tokens of the anchor
}

// room is how many tokens of its own a prompt of n has.
func (c *cutter) room(n int) int { return max(1, n-c.rule.Vocabulary.Overhead) }

// ids takes the text's first token ids.
func (c *cutter) ids(text string, n int) (dataset.Turn, int, bool, error) {
	want := c.room(n)
	for bytes := int(c.ratio*float64(want)*1.1) + 16; ; bytes *= 2 {
		part := text[:wordEnd(text, bytes)]
		ids, err := c.tokens(part)
		if err != nil {
			return dataset.Turn{}, 0, false, unable(err)
		}
		if len(ids) >= want {
			c.ratio = float64(len(part)) / float64(len(ids))
			all := append(append(make([]int32, 0, n), c.rule.Vocabulary.Lead...), ids[:want]...)
			return dataset.Turn{TokenIDs: all, InputTokens: n}, len(part), true, nil // where the ids end in it is not known
		}
		if len(part) == len(text) {
			return dataset.Turn{}, 0, false, nil
		}
	}
}

// tokens gives a text's token ids; a blank one has none, and some servers refuse it.
func (c *cutter) tokens(text string) ([]int32, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	return c.cfg.Server.tokenize(c.ctx, text, false)
}

// text looks for a cut a few tokens short of the length, and makes them up with words of one token.
func (c *cutter) text(text string, n int) (dataset.Turn, int, bool, error) {
	want := c.room(n)
	best, missing, used := "", want, 0
	bytes := int(c.ratio * float64(want))
	for range tries {
		end := wordEnd(text, bytes)
		part := strings.TrimRightFunc(text[:end], unicode.IsSpace)
		got, err := c.count(part)
		if err != nil {
			return dataset.Turn{}, 0, false, unable(err)
		}
		left := want - got
		if left > fewWords && end == len(text) {
			return dataset.Turn{}, 0, false, nil
		}
		if left >= 0 && left < missing {
			best, missing, used = part, left, end
		}
		if missing <= fewWords {
			break
		}
		bytes = end + int((float64(left)-fewWords/2)*c.ratio)
	}
	c.ratio = float64(max(1, len(best))) / float64(max(1, want-missing))
	return c.message(c.filled(best, missing), n), used, true, nil
}

// count gives the tokens of a text behind others, by tokenizer or by the usage of a request.
func (c *cutter) count(text string) (int, error) {
	if c.rule.Way == ByUsage {
		n, err := c.cfg.Ask(c.ctx, c.message(text, 0).WithSystem(c.cfg.System), c.rule.sample())
		return n - c.rule.Vocabulary.Overhead, err
	}
	if c.base == 0 {
		ids, err := c.cfg.Server.tokenize(c.ctx, c.rule.anchor, false)
		if err != nil {
			return 0, err
		}
		c.base = len(ids)
	}
	ids, err := c.cfg.Server.tokenize(c.ctx, c.rule.anchor+" "+text, false)
	return len(ids) - c.base, err
}

// filled puts n words behind a text.
func (c *cutter) filled(text string, n int) string {
	words := c.rule.Vocabulary.Words
	parts := make([]string, 1, n+1)
	parts[0] = text
	for i := range n {
		parts = append(parts, words[i%len(words)])
	}
	return strings.TrimPrefix(strings.Join(parts, " "), " ")
}

func (c *cutter) message(text string, tokens int) dataset.Turn {
	return dataset.Turn{Messages: []dataset.Message{{Role: "user", Content: c.rule.Vocabulary.Begin + text}}, InputTokens: tokens}
}

// wordEnd is where to cut a text after about n bytes: at a blank not far before, else between two characters.
func wordEnd(text string, n int) int {
	if n >= len(text) {
		return len(text)
	}
	n = max(0, n)
	for i := n; i > max(0, n-nearBlank); i-- {
		if text[i] == ' ' || text[i] == '\n' {
			return i
		}
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

// ErrCut says that the server did not answer while a text was cut.
var ErrCut = errors.New("a text could not be cut to its length")

func unable(err error) error {
	return fault.New(fault.Client, "prompt_length", "look at the server's log, or write workload.lengths: words", "%w: %w", ErrCut, err)
}
