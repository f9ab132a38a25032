package length

import (
	"context"
	"errors"
	"fmt"
	"math"

	"assay/runner/dataset"
)

// Ask sends a request for one token and gives the number of prompt tokens that the server counted. salt stands before the prompt, as the
// inside of a JSON string, or of a list of ids.
type Ask func(ctx context.Context, prompt dataset.Turn, salt string) (int, error)

// Config says which prompts are wanted, and who is asked.
type Config struct {
	Server Server
	Ask    Ask
	IDs    bool   // the endpoint takes token ids, and prompts are of one turn
	System string // system prompt before each
	Salt   string // run | session | none | text
	Text   string // of salt text

	Asking func(what string) // is told what the server is asked next, for people; may be nil
}

// The ways to a length.
const (
	ByIDs       = "ids"       // prompts are token ids of the server's tokenizer
	ByTokenizer = "tokenizer" // texts are cut by the server's tokenizer
	ByUsage     = "usage"     // the server's usage of a few requests says which words are one token each
	ByWords     = "words"     // nobody knows: a word counts as a token
)

// Rule is how prompts of a length are made.
type Rule struct {
	Way        string
	Vocabulary dataset.Vocabulary
	Pieces     []string // a salt is made of these, each with what parts it from the next; nil: as without a rule
	Size       int      // pieces of a salt
	Fixed      string   // stands before each salt, and in place of none
	Notes      []string

	anchor string // a text before what is counted
}

// Find asks the server how it counts. What cannot be found out is no error but another way, and a note; an error is ctx's.
func Find(ctx context.Context, cfg Config) (Rule, error) {
	var notes []string
	for _, w := range ways() {
		if cfg.Asking != nil {
			cfg.Asking(w.asks)
		}
		r, err := w.find(ctx, cfg)
		if ctx.Err() != nil {
			return Rule{}, context.Cause(ctx)
		}
		if err == nil {
			r.Notes = append(notes, r.Notes...)
			return r, nil
		}
		if !errors.Is(err, errNotMeant) {
			notes = append(notes, err.Error())
		}
	}
	return Unknown(notes...), nil
}

// way is how a rule can be found, and what the server is asked for it.
type way struct {
	asks string
	find func(context.Context, Config) (Rule, error)
}

// ways lists them, the best first.
func ways() []way {
	return []way{
		{"token ids, POST /tokenize", byIDs},
		{"its tokenizer, POST /tokenize", byTokenizer},
		{"its usage of requests of one token", byUsage},
	}
}

// Unknown is the rule where nobody knows how the server counts; notes say why.
func Unknown(notes ...string) Rule {
	r := Rule{Way: ByWords, Vocabulary: dataset.Words(), Notes: notes}
	r.note("prompt lengths are in words: how the server counts could not be found out")
	return r
}

func (r *Rule) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// saltBits is how much a salt must hold so that no two requests ever have the same.
const saltBits = 64

// salted makes the rule's salts of pieces.
func (r *Rule) salted(kind string, pieces []string) {
	if kind != "run" && kind != "session" {
		return
	}
	r.Pieces = pieces
	r.Size = int(math.Ceil(saltBits / math.Log2(float64(len(pieces)))))
}

// sample is a salt like those of the load.
func (r *Rule) sample() string {
	s := r.Fixed
	for i := range r.Size {
		s += r.Pieces[i%len(r.Pieces)]
	}
	return s
}

// prompt makes a turn of the vocabulary's first n pieces, again and again.
func (r *Rule) prompt(system string, n int) dataset.Turn {
	pieces := make([]int32, n)
	for i := range pieces {
		pieces[i] = int32(i % r.Vocabulary.Size())
	}
	return r.Vocabulary.Prompt(pieces).WithSystem(system)
}
