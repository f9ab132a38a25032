package length

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"assay/runner/dataset"
)

// ErrNoUsage is what Ask gives when the server answered and told no usage.
var ErrNoUsage = errors.New("the server tells no usage")

// counter counts the tokens of a text, with what a server puts around it.
type counter func(ctx context.Context, text string) (int, error)

// search bounds the search for words of one token.
type search struct {
	group  int // words that are counted together at first
	enough int // words
	calls  int
}

// byTokenizer finds words of one token with the server's tokenizer, and has the server's usage say what it counts beside them.
func byTokenizer(ctx context.Context, cfg Config) (Rule, error) {
	count := func(ctx context.Context, text string) (int, error) {
		ids, err := cfg.Server.tokenize(ctx, text, false)
		return len(ids), err
	}
	r := Rule{Way: ByTokenizer}
	err := r.byWords(ctx, cfg, count, search{group: 64, enough: 600, calls: 400})
	if errors.Is(err, ErrNoUsage) {
		r.note("the server tells no usage: prompts are longer than wanted by what it puts around them")
		err = nil
	}
	return r, err
}

// byUsage finds them with requests for one token.
func byUsage(ctx context.Context, cfg Config) (Rule, error) {
	count := func(ctx context.Context, text string) (int, error) {
		return cfg.Ask(ctx, dataset.Turn{Messages: []dataset.Message{{Role: "user", Content: text}}}, "")
	}
	r := Rule{Way: ByUsage}
	return r, r.byWords(ctx, cfg, count, search{group: 16, enough: 160, calls: 40})
}

func (r *Rule) byWords(ctx context.Context, cfg Config, count counter, limit search) error {
	words, err := r.oneToken(ctx, count, limit)
	if err != nil {
		return err
	}
	if len(words) < fewestPieces {
		return fmt.Errorf("only %d of the words that were tried are one token each", len(words))
	}
	r.Vocabulary = dataset.Vocabulary{Words: words, Counted: true}
	var pieces []string
	for _, w := range words {
		pieces = append(pieces, w+" ")
	}
	r.salted(cfg.Salt, pieces)
	first := pieces[0] // every other word has a blank before it, and counts as it was counted
	if r.Fixed = first; cfg.Salt == "text" {
		r.Fixed = cfg.Text
	}
	if cfg.System != "" {
		r.Vocabulary.Begin = first
	}
	return r.around(ctx, cfg)
}

// oneToken gives words that count one token each behind a blank, and letters where too few do.
func (r *Rule) oneToken(ctx context.Context, count counter, limit search) ([]string, error) {
	words := candidates()
	r.anchor = strings.Join(words[:4], " ")
	base, err := count(ctx, r.anchor)
	if err != nil {
		return nil, err
	}
	own := func(ctx context.Context, text string) (int, error) {
		n, err := count(ctx, r.anchor+" "+text)
		return n - base, err
	}
	found, err := limit.among(ctx, words, own)
	if err != nil || len(found) >= fewestPieces {
		return found, err
	}
	more, err := limit.among(ctx, strings.Split("b c d e f g h j k l m n o p q r s t u v w x y z", " "), own)
	return append(found, more...), err
}

// among counts groups of words and halves those that count more, until words or calls are enough.
func (s search) among(ctx context.Context, words []string, own counter) (found []string, err error) {
	groups := split(words, s.group)
	for calls := 0; len(groups) > 0 && len(found) < s.enough && calls < s.calls; calls++ {
		group := groups[0]
		groups = groups[1:]
		n, err := own(ctx, strings.Join(group, " "))
		if err != nil {
			return nil, err
		}
		switch half := len(group) / 2; {
		case n == len(group):
			found = append(found, group...)
		case half > 0:
			groups = append([][]string{group[:half], group[half:]}, groups...)
		}
	}
	return found, nil
}

// candidates are the words that are tried: short ones first, which are one token more often, and of each length mixed, so that those that are
// found are not all of the alphabet's beginning.
func candidates() []string {
	words := dataset.Words().Words
	rng := rand.New(rand.NewPCG(1, 1))
	rng.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	slices.SortStableFunc(words, func(a, b string) int { return len(a) - len(b) })
	return words
}

func split(words []string, size int) (groups [][]string) {
	for len(words) > 0 {
		n := min(size, len(words))
		groups = append(groups, words[:n])
		words = words[n:]
	}
	return groups
}

// around finds what the server counts of a prompt beside its words, and sees whether a longer one has the length it should have.
func (r *Rule) around(ctx context.Context, cfg Config) error {
	short, err := cfg.Ask(ctx, r.prompt(cfg.System, shortPrompt), r.sample())
	if err != nil {
		return err
	}
	r.Vocabulary.Overhead = short - shortPrompt
	long, err := cfg.Ask(ctx, r.prompt(cfg.System, longPrompt), r.sample())
	if err != nil {
		return nil // it may be too long for this server; the first one says enough
	}
	if off := long - longPrompt - r.Vocabulary.Overhead; off != 0 {
		return fmt.Errorf("the server does not count a prompt as the sum of its words: %d tokens more at %d words", off, longPrompt)
	}
	return nil
}
