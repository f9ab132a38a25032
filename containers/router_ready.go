package containers

import (
	"cmp"
	"context"
	"time"

	"assay/containers/engine"
	"assay/containers/router"
	"assay/fault"
	"assay/plan"
)

// registeredEvery is the time between two questions whether a router knows all its servers.
const registeredEvery = 100 * time.Millisecond

// RouterReady waits until a token flows through a router to a server of preset p, and the router knows all of its servers.
func RouterReady(ctx context.Context, inst Instance, r plan.Router, servers int, p Preset, opt ReadyOptions) (Identity, error) {
	kind, err := router.Named(r.Kind)
	if err != nil {
		return Identity{}, err
	}
	id, err := Ready(ctx, inst, routerPreset(r, kind, p), opt, func(string) {})
	if err == nil && kind.HealthPath != "" {
		err = registered(ctx, inst, kind, servers, opt)
	}
	if err != nil {
		return id, err
	}
	id.Version, id.VersionUnknown = routerVersion(ctx, inst, kind)
	return id, nil
}

// routerVersion is the version of a router that runs, or why it is not known.
func routerVersion(ctx context.Context, inst Instance, kind router.Kind) (version, unknown string) {
	s, ok := inst.(surrounded)
	if !ok {
		return "", "it was not started here"
	}
	_, w := s.Surroundings()
	version, err := kind.Version(ctx, w, inst.Identity().Argv)
	if err != nil {
		return "", err.Error()
	}
	return version, ""
}

// routerPreset is how a router answers for a kind of server: as that does, but that it tells nothing of itself and prints nothing of a model.
func routerPreset(r plan.Router, kind router.Kind, p Preset) Preset {
	p.Describe = func(context.Context, engine.Asker) engine.Facts { return engine.Facts{} }
	p.Loading = nil
	p.AnyModel = p.AnyModel || kind.OwnModels
	if kind.Config == nil {
		p.HealthPath = cmp.Or(kind.HealthPath, r.Health)
	}
	return p
}

// registered waits until a router says that all of its servers are healthy: with some of them it is ready too, and would give those the load.
func registered(ctx context.Context, inst Instance, kind router.Kind, servers int, opt ReadyOptions) error {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(opt.Timeout, defaultTimeout))
	defer cancel()
	base := inst.BaseURLs()[0]
	ask := engine.Asker{Base: base, Access: opt.Access, Transport: engine.NewTransport(base, opt.Access)}
	tick := time.NewTicker(registeredEvery)
	defer tick.Stop()
	knows := 0 // by its last answer
	for {
		var told struct {
			Healthy int `json:"healthy_workers"`
		}
		if ask.JSON(ctx, kind.HealthPath, &told) {
			knows = told.Healthy
		}
		if knows == servers {
			return nil
		}
		select {
		case e := <-inst.Exited():
			return ExitFault(inst, e)
		case <-ctx.Done():
			return fault.New(fault.Router, "not_ready", "look at its log: does it reach each server, and does each answer its health question?",
				"%s at %s knows %d of %d servers: %w", kind.Name, base, knows, servers, context.Cause(ctx))
		case <-tick.C:
		}
	}
}
