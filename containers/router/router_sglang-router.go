package router

// sglangRouter is the router of SGLang. Of its policies manual alone keeps a session on one server, by a header of its own; a new
// one goes where the fewest are. With its default, cache_aware, requests that come one after another all go to one server.
func sglangRouter() Kind {
	return Kind{
		Name:       "sglang-router",
		Program:    []string{"sglang-router", "launch"},
		Args:       sglangRouterArgs,
		Knows:      []string{"X-SMG-Routing-Key"},
		HealthPath: "/readiness",
		OwnModels:  true,
		Package:    "sglang-router",
		Files:      externalFiles,
	}
}

// sglangRouterArgs let it hold every request for as long as the client does, and neither retry nor shun a server that answers late.
func sglangRouterArgs(s Setup) ([]string, error) {
	return arguments(s.Args,
		option{"--worker-urls", s.urls()},
		option{"--policy", []string{"manual"}},
		option{"--assignment-mode", []string{"min_group"}},
		option{"--host", []string{s.Host}},
		option{"--port", number(s.Port)},
		option{"--prometheus-host", []string{s.Host}},
		option{"--prometheus-port", number(s.AdminPort)},
		option{"--max-concurrent-requests", []string{"-1"}},
		option{"--request-timeout-secs", number(aDay)},
		option{"--worker-startup-check-interval", number(1)},
		option{"--disable-retries", nil},
		option{"--disable-circuit-breaker", nil},
		option{"--log-level", []string{"warn"}}), nil
}
