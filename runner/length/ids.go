package length

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/runner/dataset"
)

// errNotMeant says that a way is not for these prompts.
var errNotMeant = errors.New("not for these prompts")

const (
	fewestPieces = 24 // fewer make no prompt
	shortPrompt  = 32 // pieces of the first prompt whose length is checked
	longPrompt   = 250
	mostExtra    = 64 // tokens that a server may add to a prompt of ids
)

// byIDs takes the ids of the vocabulary's text from the server's tokenizer. A prompt of ids has the length it has, but for what the server
// puts before it.
func byIDs(ctx context.Context, cfg Config) (Rule, error) {
	if !cfg.IDs {
		return Rule{}, errNotMeant
	}
	text := strings.Join(dataset.Words().Words, " ")
	plain, err := cfg.Server.tokenize(ctx, text, false)
	if err != nil {
		return Rule{}, errNotMeant // the next way says it
	}
	full, err := cfg.Server.tokenize(ctx, text, true)
	if err != nil {
		return Rule{}, fmt.Errorf("no prompts of token ids: %w", err)
	}
	first := firstTokens(full, plain)
	r := Rule{Way: ByIDs}
	pool := slices.Compact(slices.Sorted(slices.Values(plain)))
	if len(pool) < fewestPieces {
		return Rule{}, fmt.Errorf("no prompts of token ids: the tokenizer knows %d in a text of a thousand words", len(pool))
	}
	r.Vocabulary = dataset.Vocabulary{IDs: pool, Counted: true}
	if cfg.System != "" {
		if r.Vocabulary.Lead, err = cfg.Server.tokenize(ctx, cfg.System+"\n\n", false); err != nil {
			return Rule{}, fmt.Errorf("no prompts of token ids: %w", err)
		}
	}
	if err := r.saltIDs(ctx, cfg, first, pool); err != nil {
		return Rule{}, err
	}
	r.Vocabulary.Overhead = len(r.Vocabulary.Lead) + strings.Count(r.sample(), ",")
	return r, r.check(ctx, cfg)
}

// firstTokens are those that the server puts before a prompt of text, such as one for its beginning.
func firstTokens(full, plain []int32) []int32 {
	extra := len(full) - len(plain)
	for n := 0; n <= extra; n++ {
		if slices.Equal(full[n:n+len(plain)], plain) {
			return full[:n]
		}
	}
	return nil
}

// saltIDs makes the salt, and what comes first even before it.
func (r *Rule) saltIDs(ctx context.Context, cfg Config, first, pool []int32) error {
	switch cfg.Salt {
	case "run", "session":
		r.salted(cfg.Salt, list(pool))
		r.Fixed = strings.Join(list(first), "")
	case "text":
		ids, err := cfg.Server.tokenize(ctx, cfg.Text, false)
		if err != nil {
			return fmt.Errorf("no prompts of token ids: %w", err)
		}
		r.Fixed = strings.Join(list(append(slices.Clone(first), ids...)), "")
	default:
		r.Vocabulary.Lead = append(slices.Clone(first), r.Vocabulary.Lead...)
	}
	return nil
}

// list writes ids as they stand in a JSON list, each with its comma.
func list(ids []int32) []string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = strconv.Itoa(int(id)) + ","
	}
	return texts
}

// check has the server count a prompt of ids. A server that tells no usage is believed to take them as they are.
func (r *Rule) check(ctx context.Context, cfg Config) error {
	wanted := shortPrompt + r.Vocabulary.Overhead
	got, err := cfg.Ask(ctx, r.prompt("", shortPrompt), r.sample())
	switch {
	case errors.Is(err, ErrNoUsage):
		r.note("the server tells no usage: that it counts prompts of token ids as they are was not seen")
		return nil
	case err != nil:
		return fmt.Errorf("the server takes no prompts of token ids: %w", err)
	case got < wanted || got > wanted+mostExtra:
		return fmt.Errorf("the server counts %d tokens where %d ids were sent", got, wanted)
	}
	r.Vocabulary.Overhead += got - wanted
	return nil
}
