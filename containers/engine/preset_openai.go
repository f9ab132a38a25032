package engine

import "context"

// openai is any server with the OpenAI API: nothing is known of it but that, so a flowing token is the only proof that it is ready.
func openai() Preset {
	return Preset{
		Name:        "openai",
		Program:     func(string) []string { return nil },
		ModelsPath:  "/v1/models",
		MetricsPath: "/metrics",
		Metrics:     everyEngine(),
		Describe:    describeAny,
	}
}

// realEngines are those that may stand behind an address.
func realEngines() []Preset { return []Preset{vllm(), sglang(), llamacpp(), tgi(), ollama()} }

// everyEngine reads the metrics of whichever of them it is.
func everyEngine() map[string][]Series {
	all := map[string][]Series{}
	for _, p := range realEngines() {
		for name, series := range p.Metrics {
			all[name] = append(all[name], series...)
		}
	}
	return all
}

// describeAny asks in the words of each of them, until one is answered.
func describeAny(ctx context.Context, a Asker) Facts {
	for _, p := range realEngines() {
		if f := p.Describe(ctx, a); !f.none() {
			return f
		}
	}
	return Facts{}
}
