package routing

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/plan"
	"assay/result"
)

// found is what stands of a router that has no fault, before a change.
func found(change func(*result.Routing)) result.Routing {
	r := result.Routing{Headers: []string{"X-Session-ID"}, Servers: 2,
		Sessions:    &result.RoutedSessions{By: "X-Upstream", Sessions: 8, Turns: 3, PerServer: map[string]int{"a": 4, "b": 4}, BusiestOverMean: 1},
		FirstByte:   &result.RoutedFirstByte{DirectMS: 20, RouterMS: 21, CostMS: 1, Tries: 7},
		Body:        &result.RoutedBody{Bytes: 8 << 20, Status: 400, Accepted: true},
		Connections: &result.RoutedConnections{Asked: 36, Held: 36},
		Load:        &result.RoutedLoad{Unit: "generation_tokens", PerServer: map[string]int64{"a": 500, "b": 520}, BusiestOverMean: 1.02}}
	if change != nil {
		change(&r)
	}
	return r
}

func TestJudge(t *testing.T) {
	agentic, single := plan.Workload{Kind: "agentic"}, plan.Workload{Kind: "synthetic"}
	c32 := plan.Point{Concurrency: 32}
	for name, c := range map[string]struct {
		r     result.Routing
		p     plan.Point
		w     plan.Workload
		code  string
		fatal bool
		text  string
	}{
		"no fault": {found(nil), c32, agentic, "", false, ""},
		"moved": {found(func(r *result.Routing) { r.Sessions.Moved = 3 }), c32, agentic, "router_moved", true,
			"3 of 8 sessions of 3 turns met more than one server, by X-Upstream; the session is in X-Session-ID"},
		"moved, but no turn builds on another": {found(func(r *result.Routing) { r.Sessions.Moved = 3 }), c32, single, "router_moved", false,
			"3 of 8 sessions of 3 turns met more than one server, by X-Upstream; the session is in X-Session-ID"},
		"uneven load": {found(func(r *result.Routing) { r.Load.PerServer["a"], r.Load.BusiestOverMean = 1500, 1.5 }), c32, agentic, "router_uneven", false,
			"the busiest had 1.50 times the mean of generation_tokens, the limit is 1.3: a 1500, b 520"},
		"uneven sessions, no counters": {found(func(r *result.Routing) { r.Load, r.Sessions.BusiestOverMean = nil, 1.75 }), c32, agentic, "router_uneven", false,
			"the busiest had 1.75 times the mean of 8 sessions, the limit is 1.3: a 4, b 4"},
		"uneven sessions, even load":  {found(func(r *result.Routing) { r.Sessions.BusiestOverMean = 1.75 }), c32, agentic, "", false, ""},
		"fewer requests than servers": {found(func(r *result.Routing) { r.Load.BusiestOverMean = 2 }), plan.Point{Concurrency: 1}, agentic, "", false, ""},
		"slow": {found(func(r *result.Routing) { r.FirstByte.RouterMS, r.FirstByte.CostMS = 225, 205 }), c32, agentic, "router_slow", false,
			"first byte after 20.0 ms straight, 225.0 ms by way of it, medians of 7; the limit is 10 ms more"},
		"large bodies refused": {found(func(r *result.Routing) { *r.Body = result.RoutedBody{Bytes: 8 << 20, Status: 413, Direct: 400} }), c32, agentic, "router_body", false,
			"8 MiB: the router answered 413, a server 400"},
		"large bodies broken off": {found(func(r *result.Routing) { *r.Body = result.RoutedBody{Bytes: 8 << 20, Direct: 400} }), c32, agentic, "router_body", false,
			"8 MiB: the router broke off, a server 400"},
		"no room for the point": {found(func(r *result.Routing) { r.Connections.Held = 20 }), c32, agentic, "router_connections", true,
			"20 of 36 were served while all were open; the point needs 32"},
		"no room beside the point": {found(func(r *result.Routing) { r.Connections.Held = 33 }), c32, agentic, "router_connections", false,
			"33 of 36 were served while all were open; the point needs 32"},
		"one server": {result.Routing{Servers: 1, Headers: []string{"X-Session-ID"}}, c32, agentic, "", false, ""},
	} {
		got := Judge(c.r, c.p, c.w)
		if c.code == "" {
			if len(got) > 0 {
				t.Errorf("%s: %+v", name, got)
			}
			continue
		}
		if len(got) != 1 || got[0].Code != c.code || got[0].Fatal != c.fatal || got[0].Evidence != c.text {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestConversations(t *testing.T) {
	for _, c := range []struct {
		w    plan.Workload
		want bool
	}{
		{plan.Workload{Kind: "agentic"}, true}, {plan.Workload{Kind: "sharegpt", Turns: 1}, false}, {plan.Workload{Kind: "sharegpt"}, true},
		{plan.Workload{Kind: "synthetic"}, false}, {plan.Workload{Kind: "synthetic", Turns: 4}, true}, {plan.Workload{Kind: "text"}, false},
	} {
		if conversations(c.w) != c.want {
			t.Errorf("%+v", c.w)
		}
	}
}

func TestSpread(t *testing.T) {
	servers := []string{"http://127.0.0.1:8001", "http://127.0.0.1:8002"}
	tokens := func(a, b float64) []map[string]float64 {
		return []map[string]float64{{generated: a, prompted: 7 * a}, {generated: b, prompted: 7 * b}}
	}
	want := &result.RoutedLoad{Unit: generated, PerServer: map[string]int64{"127.0.0.1:8001": 30, "127.0.0.1:8002": 10}, BusiestOverMean: 1.5}
	if diff := cmp.Diff(want, Spread(servers, tokens(10, 10), tokens(40, 20))); diff != "" {
		t.Error(diff)
	}
	before, after := tokens(1, 1), tokens(2, 1)
	delete(before[1], generated)
	want = &result.RoutedLoad{Unit: prompted, PerServer: map[string]int64{"127.0.0.1:8001": 7, "127.0.0.1:8002": 0}, BusiestOverMean: 2}
	if diff := cmp.Diff(want, Spread(servers, before, after)); diff != "" {
		t.Error(diff)
	}
	for name, got := range map[string]*result.RoutedLoad{
		"one server":      Spread(servers[:1], tokens(1, 1)[:1], tokens(2, 2)[:1]),
		"no scrape":       Spread(servers, nil, tokens(2, 2)),
		"began anew":      Spread(servers, tokens(5, 5), tokens(1, 9)),
		"nothing is told": Spread(servers, []map[string]float64{{}, {}}, tokens(1, 1)),
	} {
		if got != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := Spread(servers, tokens(5, 5), tokens(5, 5)); got == nil || got.BusiestOverMean != 0 {
		t.Errorf("nothing was done: %+v", got)
	}
}

func TestFollow(t *testing.T) {
	r := Request{Servers: []string{"http://a", "http://b"}}
	got := r.follow("X-Upstream", [][]string{{"a", "a", "a"}, {"a", "b", "a"}, {"a", "a", "b"}, {"b", "b", "b"}})
	want := &result.RoutedSessions{By: "X-Upstream", Sessions: 4, Turns: 3, Moved: 2, PerServer: map[string]int{"a": 3, "b": 1}, BusiestOverMean: 1.5}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if r.follow("X-Upstream", nil) != nil {
		t.Error("no session was followed")
	}
}
