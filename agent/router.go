package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"assay/containers"
	"assay/plan"
	"assay/store"
)

// routerLimit bounds the wait for the first token through a router: the server behind it is ready.
const routerLimit = 30 * time.Second

// useRouter puts the point's router before the server; the one that runs already is kept when it is the same.
func (x *execution) useRouter(ctx context.Context, r plan.Router) error {
	key := strings.Join(append([]string{r.Kind, r.Runtime, r.Image}, r.Command...), " ")
	if r.Kind == "" || r.Kind == plan.RouterNone {
		key = ""
	}
	if key == x.routerKey {
		return nil
	}
	if err := x.stopRouter(ctx); err != nil || key == "" {
		return err
	}
	spec, err := containers.RouterSpec(r, x.server.BaseURLs(), x.specOptions())
	if err != nil {
		return err
	}
	rt, err := containers.RuntimeNamed(spec.Runtime)
	if err != nil {
		return err
	}
	if err := rt.Prepare(ctx, spec, x.pulling); err != nil {
		return err
	}
	if x.router, err = rt.Start(ctx, spec); err != nil {
		x.router = nil
		return err
	}
	x.routerKey = key
	return x.routerReady(ctx)
}

// routerReady waits until a token flows through the router, not only to its port.
func (x *execution) routerReady(ctx context.Context) error {
	id, err := containers.Ready(ctx, x.router, x.preset, x.readyOptions(routerLimit), func(string) {})
	if err != nil {
		return err
	}
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
	_, err := x.router.Stop(ctx)
	x.router, x.routerKey = nil, ""
	return err
}
