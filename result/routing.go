package result

// Routing is what was found of a point's router before its load, and how the load was spread over the servers behind it. What could not be
// looked at is nil or absent, and a note says why.
type Routing struct {
	Config  string   `json:"config,omitempty"` // its configuration in the run's folder; "" for a router that has none
	SHA256  string   `json:"sha256,omitempty"` // of that file
	Started bool     `json:"started"`          // for this point; else it ran at the one before
	Headers []string `json:"headers"`          // that carry the session, as every request has them
	Servers int      `json:"servers"`          // behind it

	Sessions    *RoutedSessions    `json:"sessions,omitempty"`    // nil with one server: there is nowhere else to go
	FirstByte   *RoutedFirstByte   `json:"first_byte,omitempty"`  // nil when it could not be measured
	Body        *RoutedBody        `json:"body,omitempty"`        // looked at when the router was started
	Connections *RoutedConnections `json:"connections,omitempty"` // nil where the point has no concurrency
	Load        *RoutedLoad        `json:"load,omitempty"`        // of the point's own requests; nil when the servers do not tell

	DurationS float64  `json:"duration_s"` // of the looking
	Notes     []string `json:"notes,omitempty"`
}

// RoutedSessions tells where the requests of sessions went that were made to find it out.
type RoutedSessions struct {
	By              string         `json:"by"`                // how the server is known: a header of the answers, or "counters" of the servers
	Sessions        int            `json:"sessions"`          // that could be followed
	Turns           int            `json:"turns"`             // requests of each
	Moved           int            `json:"moved"`             // sessions that met more than one server
	PerServer       map[string]int `json:"per_server"`        // sessions by the server that got their first turn
	BusiestOverMean float64        `json:"busiest_over_mean"` // of those counts
}

// RoutedFirstByte compares the time to the first byte of a small stream, ms: medians over tries that were sent in turn.
type RoutedFirstByte struct {
	DirectMS float64 `json:"direct_ms"`
	RouterMS float64 `json:"router_ms"`
	CostMS   float64 `json:"cost_ms"` // router − direct
	Tries    int     `json:"tries"`   // of each
}

// RoutedBody is a large request body and what was answered.
type RoutedBody struct {
	Bytes    int64 `json:"bytes"`
	Status   int   `json:"status"` // by the router; 0: the connection broke
	Direct   int   `json:"direct"` // by a server; 0 when it was not asked, since what the router answered is a server's word
	Accepted bool  `json:"accepted"`
}

// RoutedConnections is how many connections the router served while all of them were open.
type RoutedConnections struct {
	Asked int `json:"asked"` // the point's concurrency and a tenth more
	Held  int `json:"held"`
}

// RoutedLoad is what each server did of the point's requests, warm-up too, by its own counters.
type RoutedLoad struct {
	Unit            string           `json:"unit"`       // generation_tokens or prompt_tokens
	PerServer       map[string]int64 `json:"per_server"` // growth of that counter
	BusiestOverMean float64          `json:"busiest_over_mean"`
}
