package engine

// simulated is this program's own simulated engine, which speaks vLLM's API and metrics.
func simulated() Preset {
	p := vllm()
	p.Name = "sim"
	p.Program = func(self string) []string { return []string{self, "sim"} }
	p.Flags = Flags{Host: []string{"--host"}, Port: []string{"--port"}, Served: []string{"--model"}}
	p.Env, p.OfflineEnv, p.ShmBytes = nil, nil, 0
	return p
}
