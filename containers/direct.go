package containers

import "assay/fault"

// noRouter is the address of the one server itself.
func noRouter(upstreams []string, opt SpecOptions) (Spec, error) {
	if len(upstreams) > 1 {
		return Spec{}, fault.New(fault.Plan, "router_missing", "choose nginx or haproxy", "%d servers need a router", len(upstreams))
	}
	return Spec{Owner: opt.Owner, Run: opt.Run, Role: "router", Runtime: "endpoint", Dir: opt.Dir, URLs: upstreams[:1]}, nil
}
