package dialect

import "slices"

// Optional fields of a body, as Request.Omit names them: a dot leads into an object. A server that refuses one is asked again without it.
const (
	fieldUsage      = "stream_options"
	fieldContinuous = "stream_options.continuous_usage_stats"
	fieldTimings    = "timings_per_token"
	fieldIgnoreEOS  = "ignore_eos"
	fieldMinTokens  = "min_tokens"
	fieldMaxTokens  = "max_tokens"
	fieldCache      = "cache_prompt"
)

// Dialect is what a kind of server takes of the fields that not every server takes; "" where it has none.
type Dialect struct {
	Engine    string // name of the engine's preset
	Usage     string // has the last event tell the token counts
	Counts    string // has each event tell the token count so far
	IgnoreEOS string // answers go on to max_tokens
	MinTokens string // fewest tokens of an answer
	MaxTokens string // is offered where the server may want max_completion_tokens in its place
	Cache     string // false: no part of the prompt is taken from the prefix cache
	TokenIDs  bool   // the completions endpoint takes a prompt of token ids
}

// Dialects lists the kinds of servers, in the order they are shown.
func Dialects() []Dialect {
	return []Dialect{
		{Engine: "vllm", Usage: fieldUsage, Counts: fieldContinuous, IgnoreEOS: fieldIgnoreEOS, MinTokens: fieldMinTokens, TokenIDs: true},
		{Engine: "sglang", Usage: fieldUsage, Counts: fieldContinuous, IgnoreEOS: fieldIgnoreEOS, MinTokens: fieldMinTokens, TokenIDs: true},
		{Engine: "llamacpp", Usage: fieldUsage, Counts: fieldTimings, IgnoreEOS: fieldIgnoreEOS, Cache: fieldCache, TokenIDs: true},
		{Engine: "trtllm", Usage: fieldUsage, Counts: fieldContinuous, IgnoreEOS: fieldIgnoreEOS, MinTokens: fieldMinTokens, TokenIDs: true},
		{Engine: "tgi", Usage: fieldUsage},
		{Engine: "ollama", Usage: fieldUsage},
		{Engine: "sim", Usage: fieldUsage, Counts: fieldContinuous, IgnoreEOS: fieldIgnoreEOS, MinTokens: fieldMinTokens, TokenIDs: true},
		{Engine: "openai", Usage: fieldUsage, Counts: fieldContinuous, IgnoreEOS: fieldIgnoreEOS, MaxTokens: fieldMaxTokens, TokenIDs: true}, // often vLLM behind an address
	}
}

// Named finds the dialect of an engine; one that is not listed speaks as openai does.
func Named(engine string) Dialect {
	all := Dialects()
	if i := slices.IndexFunc(all, func(d Dialect) bool { return d.Engine == engine }); i >= 0 {
		return all[i]
	}
	return all[len(all)-1]
}
