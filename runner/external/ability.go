package external

// Ability is something that a plan may ask of its client and not every tool can do.
type Ability string

// The abilities.
const (
	Sweep          Ability = "sweep"
	Serve          Ability = "serve"
	Matrix         Ability = "matrix"
	ByDuration     Ability = "a sweep that ends by time"
	Chat           Ability = "chat"
	Completions    Ability = "completions"
	Poisson        Ability = "poisson arrivals"
	Gamma          Ability = "gamma arrivals"
	Constant       Ability = "constant arrivals"
	MaxConcurrency Ability = "a bound of an open loop"
	WarmupRequests Ability = "a warm-up by requests"
	WarmupDuration Ability = "a warm-up by time"
	Generated      Ability = "prompts of a length in tokens, made by itself"
	Filed          Ability = "prompts of assay, from a file"
	System         Ability = "a system prompt"
	OwnLimits      Ability = "a length of the answer for each prompt"
	Agentic        Ability = "agentic conversations"
	Servers        Ability = "several servers without a router"
	Headers        Ability = "headers"
	Insecure       Ability = "certificates that are not checked"
	Token          Ability = "a bearer token"
	Temperature    Ability = "temperature"
	TopP           Ability = "top_p"
	Seed           Ability = "the seed of sampling"
	IgnoreEOS      Ability = "answers of full length (ignore_eos)"
	NaturalEOS     Ability = "answers that end by themselves, to prompts made by itself"
	FreshPrompts   Ability = "prompts that no cache knows (salt)"
	SharedSalt     Ability = "prompts that a cache may know (salt: none)"

	none Ability = "" // what no tool can
)
