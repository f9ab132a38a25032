package router

// vllmRouter is the router of vLLM. Its policy consistent_hash keeps a session on one server by the first of several headers that is
// there, before its request's own id: a client that sends that alone scatters its sessions.
func vllmRouter() Kind {
	return Kind{
		Name:       "vllm-router",
		Program:    []string{"vllm-router"},
		Args:       vllmRouterArgs,
		Knows:      []string{DefaultHeader, "X-User-ID", "X-Tenant-ID", "X-Correlation-ID"},
		HealthPath: "/readiness",
		Package:    "vllm-router",
		Files:      externalFiles,
	}
}

// vllmRouterArgs let it hold every request for as long as the client does, and neither retry nor shun a server that answers late.
func vllmRouterArgs(s Setup) ([]string, error) {
	return arguments(s.Args,
		option{"--worker-urls", s.urls()},
		option{"--policy", []string{"consistent_hash"}},
		option{"--host", []string{s.Host}},
		option{"--port", number(s.Port)},
		option{"--prometheus-host", []string{s.Host}},
		option{"--prometheus-port", number(s.AdminPort)},
		option{"--max-concurrent-requests", number(max(s.room(), 32768))},
		option{"--request-timeout-secs", number(aDay)},
		option{"--worker-startup-check-interval", number(1)},
		option{"--disable-retries", nil},
		option{"--disable-circuit-breaker", nil},
		option{"--log-level", []string{"warning"}}), nil
}
