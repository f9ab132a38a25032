package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"assay/agent/routing"
	"assay/agent/verdict"
	"assay/containers"
	"assay/fault"
	"assay/plan"
	"assay/result"
	"assay/store"
)

// routerLimit bounds the wait for the first token through a router: the server behind it is ready.
const routerLimit = 60 * time.Second

// routed is the router that stands before the servers now.
type routed struct {
	plan    plan.Router
	kept    []containers.KeptFile
	started bool // for the point that is under way
}

// sameRouter tells whether one router can serve the points of both: what they are differs in nothing but the points.
func sameRouter(a, b plan.Router) bool { return routerKey(a) == routerKey(b) }

// routerKey is what tells routers apart; "" is none.
func routerKey(r plan.Router) string {
	if r.Kind == "" || r.Kind == plan.RouterNone {
		return ""
	}
	r.Points = ""
	key, _ := json.Marshal(r) // plain data cannot fail
	return string(key)
}

// checkRouters refuses routers that no session could be kept by, or that cannot hold their points, before anything is started. What the
// client sends follows from them where the plan does not say.
func (x *execution) checkRouters() error {
	if len(x.plan.Routers) == 0 {
		return nil
	}
	x.plan.Client.RoutingHeaders = containers.RoutingHeaders(x.plan)
	for _, p := range x.plan.Points() {
		if routerKey(p.Router) == "" {
			continue
		}
		if err := containers.CheckRouter(p.Router, x.plan.Client.RoutingHeaders, x.routerStreams(p.Router)); err != nil {
			return fmt.Errorf("point %s: %w", p.ID, err)
		}
	}
	return nil
}

// routerStreams is the most requests that a router must hold at once, over all the points it serves; 0 when one of them has no limit.
func (x *execution) routerStreams(r plan.Router) int {
	most := 1
	for _, p := range x.plan.Points() {
		if !sameRouter(p.Router, r) {
			continue
		}
		if p.Phase == plan.PhaseServe && x.plan.Protocol.Serve.MaxConcurrency == 0 {
			return 0
		}
		if most = max(most, p.Concurrency); p.Phase == plan.PhaseServe {
			most = max(most, x.plan.Protocol.Serve.MaxConcurrency)
		}
	}
	return most
}

// pullRouters gets the images of the routers of the points that are still to be measured, or finds their programs: what is missing at the last
// point is known before the first.
func (x *execution) pullRouters(ctx context.Context) error {
	measured, err := x.measured(ctx)
	if err != nil {
		return err
	}
	found := map[string]bool{}
	for _, p := range x.plan.Points() {
		key := routerKey(p.Router)
		if key == "" || found[key] || measured[p.ID] {
			continue
		}
		spec, rt, err := x.routerSpec(p, []string{"http://127.0.0.1:1"}, true) // its servers do not run yet
		if err != nil {
			return err
		}
		if _, err := rt.Prepare(ctx, spec, x.pulling); err != nil {
			return fmt.Errorf("router of point %s: %w", p.ID, err)
		}
		found[key] = true
	}
	return nil
}

// routerSpec is the router of a point before servers, and what starts it.
func (x *execution) routerSpec(p plan.Point, servers []string, reuse bool) (containers.Spec, containers.Runtime, error) {
	spec, err := containers.RouterSpec(p.Router, servers, containers.RouterOptions{SpecOptions: x.specOptions(),
		Headers: x.plan.Client.RoutingHeaders, Streams: x.routerStreams(p.Router), Point: p.ID, Reuse: reuse})
	if err != nil {
		return spec, nil, err
	}
	rt, err := containers.RuntimeNamed(spec.Runtime, x.Docker)
	return spec, rt, err
}

// useRouter puts the point's router before the server; the one that runs already is kept when it is the same.
func (x *execution) useRouter(ctx context.Context, p plan.Point) error {
	key := routerKey(p.Router)
	if x.routed.started = false; key == x.routerKey {
		return nil
	}
	if err := x.stopRouter(ctx); err != nil || key == "" {
		return err
	}
	spec, rt, err := x.routerSpec(p, x.server.BaseURLs(), routing.Keeps(ctx, x.routingRequest(p)))
	if err != nil {
		return err
	}
	prepared, err := x.prepare(ctx, rt, spec.Role, spec)
	if err != nil {
		return err
	}
	if x.router, err = rt.Start(ctx, prepared[0]); err != nil {
		x.router = nil
		return err
	}
	x.routerKey = key
	x.routed = routed{plan: p.Router, started: true}
	if x.routed.kept, err = spec.Kept(); err != nil {
		return err
	}
	return x.routerReady(ctx)
}

// routerReady waits until a token flows through the router, not only to its port.
func (x *execution) routerReady(ctx context.Context) error {
	id, err := containers.RouterReady(ctx, x.router, x.routed.plan, len(x.server.BaseURLs()), x.preset, x.readyOptions(routerLimit))
	if err != nil {
		return err
	}
	id.Files = x.routed.kept
	raw, err := json.Marshal(id)
	if err != nil {
		return fmt.Errorf("encode the router's identity: %w", err)
	}
	x.identity.Routers = append(x.identity.Routers, raw)
	return x.put(ctx, store.Identity, x.identity)
}

func (x *execution) stopRouter(ctx context.Context) error {
	if x.router == nil {
		return nil
	}
	err := x.end(ctx, x.router)
	x.router, x.routerKey, x.routed = nil, "", routed{}
	return err
}

// routerLost is the end of a router that nobody asked for: its point is lost, and the next one can have a new router.
type routerLost struct{ cause error }

func (r routerLost) Error() string { return r.cause.Error() }
func (r routerLost) Unwrap() error { return r.cause }

// exits yield when the server and the router end by themselves; nil is never.
func (x *execution) exits() (server, router <-chan containers.Exit) {
	if x.router != nil {
		router = x.router.Exited()
	}
	return x.server.Exited(), router
}

// exitOf says why an instance ended; told is false when somebody else has taken the value.
func exitOf(ctx context.Context, inst containers.Instance, exit containers.Exit, told bool) error {
	if !told {
		exit, _ = inst.Stop(ctx) // it has ended: this tells how
	}
	return containers.ExitFault(inst, exit)
}

// ended tells the end of a server or a router, by whatever signature.
func ended(cause error) bool {
	var f *fault.Fault
	return errors.As(cause, &f) && (f.Layer == fault.Server || f.Layer == fault.Router)
}

// lookAtRouter looks at the point's router before the load comes.
func (x *execution) lookAtRouter(ctx context.Context, p plan.Point, out *result.Point) error {
	r := x.routingRequest(p)
	r.Router, r.Started = x.router.BaseURLs()[0], x.routed.started
	found := routing.Look(ctx, r)
	for _, f := range x.routed.kept {
		found.Config, found.SHA256 = f.Path, f.SHA256
	}
	out.Routing = &found
	_, router := x.exits()
	select {
	case exit, told := <-router:
		return routerLost{exitOf(ctx, x.router, exit, told)}
	default:
		return ctx.Err()
	}
}

func (x *execution) routingRequest(p plan.Point) routing.Request {
	return routing.Request{Servers: x.server.BaseURLs(), Headers: x.plan.Client.RoutingHeaders, Upstream: containers.UpstreamHeader(p.Router),
		Concurrency: p.Concurrency, Preset: x.preset, Access: x.access, Model: x.model, Endpoint: x.plan.Server.Endpoint}
}

// perServer is what each server behind a router counts; nil when there is no choice of servers, or when one does not tell.
func (x *execution) perServer(ctx context.Context) []map[string]float64 {
	if x.router == nil || len(x.server.BaseURLs()) < 2 || x.preset.MetricsPath == "" {
		return nil
	}
	m, err := containers.Scrape(ctx, x.server.BaseURLs(), x.preset, x.access)
	if err != nil {
		return nil
	}
	return m.Each
}

// judgeRouter gives a point the reasons that its router makes; before and after are what each server counted.
func (x *execution) judgeRouter(p plan.Point, before, after []map[string]float64, out *result.Point) {
	if out.Routing == nil {
		return
	}
	out.Routing.Load = routing.Spread(x.server.BaseURLs(), before, after)
	for _, f := range routing.Judge(*out.Routing, p, x.plan.Workload) {
		verdict.Blame(out, f.Reason, f.Fatal)
	}
}
