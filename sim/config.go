package sim

import (
	"errors"
	"fmt"
	"time"
)

// Config is the engine's shape and latency model. A zero limit takes Default's; a zero time means no delay, so that Config{} is
// an engine that answers at once.
type Config struct {
	Model      string // served name; default "sim"
	Token      string // bearer token wanted on /v1 paths; "" asks for none
	Seed       uint64 // of the text and the natural lengths
	ContextLen int    // tokens of prompt and reply together
	OutputMean int    // mean natural length of a reply in tokens; the single length is between half and one and a half of it

	MaxRunning     int // requests decoded together; the others wait
	MaxQueued      int // waiting requests beyond which 503 is answered; 0 has no limit
	KVTokens       int // tokens that the KV cache holds, rounded up to blocks
	BlockTokens    int // tokens of a block of the KV cache
	BatchTokens    int // tokens of a step at most: one and its drafts for a reply under way, the rest for prompts
	NoCache        bool
	Ranks          int     // data-parallel engines, each with MaxRunning, KVTokens and steps of its own
	TokenBytes     int     // a word has a token for so many of its bytes; 0: one
	TemplateTokens int     // tokens that each message of a chat and the opening of the reply add to the prompt
	Drafts         int     // tokens that speculative decoding drafts in a step
	Acceptance     float64 // how likely a draft is accepted when those before it were

	StepBase   time.Duration // a step's time whatever runs
	StepPerSeq time.Duration // added by each running request
	Prefill    time.Duration // added by each uncached prompt token of the step
	ReadyAfter time.Duration // until then every answer is 503 "Loading model"

	ChunkTokens    int      // tokens of an event after the first; default 1
	Reasoning      int      // leading tokens of a chat reply sent as reasoning
	ReasoningField string   // of the delta that holds them; default "reasoning_content"
	Refuse         []string // body fields answered with 400, as strict servers do
	Faults         []Fault

	TruthRequests int // requests whose truth is kept; the oldest go first
}

// Default is an engine that saturates between 32 and 64 streams: about 8 ms a token alone, 17 ms at its 48 running requests, 20 µs a prompt token.
func Default() Config {
	return Config{
		Model: "sim", Seed: 1, ContextLen: 32768, OutputMean: 96,
		MaxRunning: 48, KVTokens: 1 << 20, BlockTokens: 16, BatchTokens: 8192, Ranks: 1,
		StepBase: 7800 * time.Microsecond, StepPerSeq: 190 * time.Microsecond, Prefill: 20 * time.Microsecond,
		ChunkTokens: 1, ReasoningField: "reasoning_content", TruthRequests: 100_000,
	}
}

// Validate says everything that is wrong with c.
func (c Config) Validate() error {
	var errs []error
	for _, v := range []struct {
		name  string
		value int64
	}{
		{"context length", int64(c.ContextLen)}, {"mean output", int64(c.OutputMean)}, {"running requests", int64(c.MaxRunning)},
		{"queued requests", int64(c.MaxQueued)}, {"KV tokens", int64(c.KVTokens)}, {"block tokens", int64(c.BlockTokens)},
		{"batch tokens", int64(c.BatchTokens)}, {"step base", int64(c.StepBase)}, {"step per request", int64(c.StepPerSeq)},
		{"prefill", int64(c.Prefill)}, {"ready after", int64(c.ReadyAfter)}, {"chunk tokens", int64(c.ChunkTokens)}, {"ranks", int64(c.Ranks)},
		{"token bytes", int64(c.TokenBytes)}, {"template tokens", int64(c.TemplateTokens)}, {"drafts", int64(c.Drafts)},
		{"reasoning", int64(c.Reasoning)}, {"kept truth", int64(c.TruthRequests)},
	} {
		if v.value < 0 {
			errs = append(errs, fmt.Errorf("%s must not be negative, got %d", v.name, v.value))
		}
	}
	full := c.withDefaults()
	if full.KVTokens < full.ContextLen {
		errs = append(errs, fmt.Errorf("KV tokens %d hold no request of the full context %d", full.KVTokens, full.ContextLen))
	}
	if !(c.Acceptance >= 0 && c.Acceptance <= 1) {
		errs = append(errs, fmt.Errorf("acceptance %v is no probability", c.Acceptance))
	}
	for i, f := range c.Faults {
		if err := f.validate(); err != nil {
			errs = append(errs, fmt.Errorf("fault %d: %w", i+1, err))
		}
	}
	return errors.Join(errs...)
}

// withDefaults fills the limits that are zero; times stay as they are.
func (c Config) withDefaults() Config {
	d := Default()
	if c.Model == "" {
		c.Model = d.Model
	}
	if c.ReasoningField == "" {
		c.ReasoningField = d.ReasoningField
	}
	c.ContextLen = orDefault(c.ContextLen, d.ContextLen)
	c.OutputMean = orDefault(c.OutputMean, d.OutputMean)
	c.MaxRunning = orDefault(c.MaxRunning, d.MaxRunning)
	c.KVTokens = orDefault(c.KVTokens, max(d.KVTokens, c.ContextLen))
	c.BlockTokens = orDefault(c.BlockTokens, d.BlockTokens)
	c.BatchTokens = orDefault(c.BatchTokens, d.BatchTokens)
	c.ChunkTokens = orDefault(c.ChunkTokens, d.ChunkTokens)
	c.Ranks = orDefault(c.Ranks, d.Ranks)
	c.TruthRequests = orDefault(c.TruthRequests, d.TruthRequests)
	return c
}

func orDefault(v, d int) int {
	if v == 0 {
		return d
	}
	return v
}
