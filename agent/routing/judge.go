package routing

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/plan"
	"assay/result"
)

// The limits of a router (docs/verdicts.md).
const (
	maxBusiest = 1.3 // busiest server over the mean
	maxCostMS  = 10  // that it may add to the time to the first byte
)

// Finding is a reason, and whether it makes the point not valid.
type Finding struct {
	result.Reason
	Fatal bool
}

// Judge makes reasons of what was found of a point's router and of the load behind it.
func Judge(r result.Routing, p plan.Point, w plan.Workload) []Finding {
	var out []Finding
	for _, f := range []*Finding{moved(r, w), uneven(r, p), slow(r), refusesBodies(r), refusesConnections(r, p)} {
		if f != nil {
			out = append(out, *f)
		}
	}
	return out
}

// moved matters where a session's next turn finds its last one in a server's cache.
func moved(r result.Routing, w plan.Workload) *Finding {
	s := r.Sessions
	if s == nil || s.Moved == 0 {
		return nil
	}
	return &Finding{result.Reason{Code: "router_moved", Text: "the router does not keep a session on one server",
		Evidence: fmt.Sprintf("%d of %d sessions of %d turns met more than one server, by %s; the session is in %s", s.Moved, s.Sessions, s.Turns, s.By, strings.Join(r.Headers, ", "))}, conversations(w)}
}

// conversations tells a workload whose requests build on each other.
func conversations(w plan.Workload) bool {
	switch w.Kind {
	case "agentic", "sharegpt", "jsonl", "trace":
		return w.Turns != 1
	}
	return w.Turns > 1
}

// uneven looks at the load itself where the servers count it, else at the sessions that were made to look.
func uneven(r result.Routing, p plan.Point) *Finding {
	if p.Concurrency > 0 && p.Concurrency < r.Servers {
		return nil // it cannot be even
	}
	var found, each string
	switch {
	case r.Load != nil && r.Load.BusiestOverMean > maxBusiest:
		found, each = fmt.Sprintf("%.2f times the mean of %s", r.Load.BusiestOverMean, r.Load.Unit), shares(r.Load.PerServer)
	case r.Load == nil && r.Sessions != nil && r.Sessions.BusiestOverMean > maxBusiest:
		found, each = fmt.Sprintf("%.2f times the mean of %d sessions", r.Sessions.BusiestOverMean, r.Sessions.Sessions), shares(r.Sessions.PerServer)
	default:
		return nil
	}
	return &Finding{Reason: result.Reason{Code: "router_uneven", Text: "one server had more of the load than the others",
		Evidence: fmt.Sprintf("the busiest had %s, the limit is %.1f: %s", found, maxBusiest, each)}}
}

func shares[N int | int64](per map[string]N) string {
	var out []string
	for _, server := range slices.Sorted(maps.Keys(per)) {
		out = append(out, fmt.Sprintf("%s %d", server, per[server]))
	}
	return strings.Join(out, ", ")
}

func slow(r result.Routing) *Finding {
	f := r.FirstByte
	if f == nil || f.CostMS <= maxCostMS {
		return nil
	}
	return &Finding{Reason: result.Reason{Code: "router_slow", Text: "the router adds to the time to the first token",
		Evidence: fmt.Sprintf("first byte after %.1f ms straight, %.1f ms by way of it, medians of %d; the limit is %d ms more", f.DirectMS, f.RouterMS, f.Tries, maxCostMS)}}
}

func refusesBodies(r result.Routing) *Finding {
	if r.Body == nil || r.Body.Accepted {
		return nil
	}
	said := fmt.Sprintf("answered %d", r.Body.Status)
	if r.Body.Status == 0 {
		said = "broke off"
	}
	return &Finding{Reason: result.Reason{Code: "router_body", Text: "the router does not take large requests",
		Evidence: fmt.Sprintf("%d MiB: the router %s, a server %d", r.Body.Bytes>>20, said, r.Body.Direct)}}
}

func refusesConnections(r result.Routing, p plan.Point) *Finding {
	c := r.Connections
	if c == nil || c.Held >= c.Asked {
		return nil
	}
	return &Finding{result.Reason{Code: "router_connections", Text: "the router does not hold all connections at once",
		Evidence: fmt.Sprintf("%d of %d were served while all were open; the point needs %d", c.Held, c.Asked, p.Concurrency)}, c.Held < p.Concurrency}
}
