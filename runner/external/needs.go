package external

import (
	"slices"
	"strings"

	"assay/plan"
)

// need is what a plan asks: by which key, and what it takes.
type need struct {
	key   string
	takes Ability
	words string // of what no tool can
	asked bool
}

// needs lists what a plan asks of its client.
func needs(p plan.Plan) []need {
	all := slices.Concat(protocolNeeds(p), workloadNeeds(p), requestNeeds(p))
	return slices.DeleteFunc(all, func(n need) bool { return !n.asked })
}

func protocolNeeds(p plan.Plan) []need {
	var out []need
	if s := p.Protocol.Sweep; s != nil {
		agentic := p.Workload.Kind == "agentic"
		byTime := s.Requests == 0 && !agentic
		out = append(out, need{"protocol.sweep", Sweep, "", true},
			need{"protocol.sweep.duration", ByDuration, "", byTime || s.Duration > 0},
			need{"protocol.sweep.requests", none, "both an end by requests and one by time", s.Requests > 0 && s.Duration > 0},
			need{"protocol.sweep.min_duration", none, "a shortest duration", s.MinDuration > 0 && (s.Requests > 0 || s.Duration > 0)},
			need{"protocol.sweep.trajectories", Agentic, "", s.Trajectories > 0},
			need{"protocol.sweep.requests", none, "a number of requests of agentic conversations", agentic && s.Requests > 0},
			need{"protocol.sweep.warmup", none, "a warm-up of agentic conversations", agentic && s.Warmup != plan.Warmup{}},
			need{"protocol.sweep.warmup.requests", WarmupRequests, "", s.Warmup.Requests > 0},
			need{"protocol.sweep.warmup.stable", none, "a warm-up until the load is stable", s.Warmup.Stable > 0},
			need{"protocol.sweep.warmup.duration", WarmupDuration, "", s.Warmup.Duration > 0})
	}
	if s := p.Protocol.Serve; s != nil {
		out = append(out, need{"protocol.serve", Serve, "", true},
			need{"protocol.serve", none, "an open loop of agentic conversations", p.Workload.Kind == "agentic"},
			need{"protocol.serve.arrival", arrivalOf(s.Arrival), "the instants of a trace", true},
			need{"protocol.serve.max_concurrency", MaxConcurrency, "", s.MaxConcurrency > 0},
			need{"protocol.serve.ramp", none, "a rate that grows over a time", s.Ramp != nil},
			need{"protocol.serve.window", none, "a window that leaves out the start or the end", s.Window.Warmup > 0 || s.Window.Cooldown > 0})
	}
	if m := p.Protocol.Matrix; m != nil {
		out = append(out, need{"protocol.matrix", Matrix, "", true},
			need{"protocol.matrix.prefill_repeats", none, "a number of prefill passes", m.PrefillRepeats > 0},
			need{"protocol.matrix.stable", none, "another time of steadiness than 3s", m.Stable.Std().Seconds() != 3})
	}
	return out
}

func arrivalOf(name string) Ability {
	switch name {
	case "poisson":
		return Poisson
	case "gamma":
		return Gamma
	case "constant":
		return Constant
	}
	return none
}

func workloadNeeds(p plan.Plan) []need {
	w := p.Workload
	agentic, matrix := w.Kind == "agentic", p.Protocol.Matrix != nil
	made := generated(p)
	prompts := !agentic && !matrix
	shared := w.Salt == "none" || w.Salt == ""
	return []need{
		{"workload.kind", none, "a trace", w.Kind == "trace"},
		{"workload.kind", none, "a text cut to tokens (write lengths: words)", w.Lengths == "tokens" && w.Kind != "synthetic" && w.InputLen > 0},
		{"workload.kind", Agentic, "", agentic},
		{"workload.kind", none, "a matrix of other prompts than its own", matrix && w.Kind != "synthetic"},
		{"workload.lengths", Generated, "", made && !matrix},
		{"workload", Filed, "", prompts && !made},
		{"workload.dataset.builtin", none, "agentic data that ships with assay (write its file: workload.dataset.path)", agentic && w.Dataset.Builtin != ""},
		{"workload.turns", none, "several turns that assay makes", prompts && w.Turns > 1},
		{"workload.shared_prompts", none, "prompts that are used again", w.SharedPrompts > 0},
		{"workload.tool_delay", Agentic, "", w.ToolDelay},
		{"workload.system", System, "", w.System != ""},
		{"workload.system", none, "a system prompt before agentic conversations", agentic && w.System != ""},
		{"workload.salt", none, "a mark per session", w.Salt == "session" && !agentic},
		{"workload.salt", none, "a mark per request in agentic conversations", agentic && w.Salt != "session" && !shared},
		{"workload.salt", none, "a text before prompts that it makes itself", made && !shared && w.Salt != "run" && w.Salt != "session"},
		{"workload.salt", FreshPrompts, "", !shared && !agentic},
		{"workload.salt", SharedSalt, "", shared && !agentic && matrix},
		{"workload.sampling.ignore_eos", IgnoreEOS, "", w.Sampling.IgnoreEOS},
		{"workload.sampling.ignore_eos", NaturalEOS, "", !w.Sampling.IgnoreEOS && made && !matrix},
		{"workload.sampling.temperature", Temperature, "", w.Sampling.Temperature != nil},
		{"workload.sampling.top_p", TopP, "", w.Sampling.TopP != nil},
		{"workload.sampling.seed", Seed, "", w.Sampling.Seed != nil},
		{"workload.sampling.cache_prompt", none, "cache_prompt", w.Sampling.CachePrompt != nil},
	}
}

// generated says that prompts have a length in tokens, which only a tokenizer can make.
func generated(p plan.Plan) bool {
	return p.Workload.Kind == "synthetic" && p.Workload.Lengths != "words"
}

func requestNeeds(p plan.Plan) []need {
	s, c := p.Server, p.Client
	endpoint := Chat
	if s.Endpoint == "completions" {
		endpoint = Completions
	}
	unix := slices.ContainsFunc(s.BaseURLs(), func(u string) bool { return strings.HasPrefix(u, "unix:") })
	return []need{
		{"server.endpoint", endpoint, "", true},
		{"server.url", none, "a unix socket", unix},
		{"server.urls", Servers, "", len(s.BaseURLs()) > 1 || s.Replicas > 1 && unrouted(p)},
		{"server.token_env", Token, "", s.TokenEnv != "" || s.TokenFile != ""},
		{"client.headers", Headers, "", len(c.Headers) > 0},
		{"client.headers_env", none, "headers that are secret", len(c.HeadersEnv) > 0},
		{"client.routing_headers", none, "other headers for routers", len(c.RoutingHeaders) > 0},
		{"client.balance", none, "sessions that stay on one server", c.Balance == "sticky"},
		{"client.insecure_tls", Insecure, "", c.InsecureTLS},
	}
}

// unrouted says that a point has no router.
func unrouted(p plan.Plan) bool {
	return slices.ContainsFunc(p.Points(), func(at plan.Point) bool { return at.Router.Kind == "" || at.Router.Kind == plan.RouterNone })
}
