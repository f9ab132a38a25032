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
		Describe:    func(context.Context, Asker) Facts { return Facts{} },
	}
}

// everyEngine reads the metrics of whichever known engine stands behind an address.
func everyEngine() map[string][]Series {
	all := map[string][]Series{}
	for _, p := range []Preset{vllm(), sglang(), llamacpp()} {
		for name, series := range p.Metrics {
			all[name] = append(all[name], series...)
		}
	}
	return all
}
