package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"assay/agent/node"
	"assay/agent/stop"
	"assay/containers"
	"assay/fault"
	"assay/probes"
	"assay/result"
	"assay/store"
)

// end stops a server or router and keeps how it ended.
func (x *execution) end(ctx context.Context, what containers.Instance) error {
	asked := stop.Asked{By: cmp.Or(x.asked, result.AskedForNext), AtUS: x.nowUS()}
	exit, err := x.stopInTime(ctx, what)
	found := stop.Evidence(what.Identity(), exit, asked, err)
	for _, s := range found {
		x.emit(result.Event{Kind: result.Stopped, Text: stop.Text(s)})
	}
	x.stops = append(x.stops, found...)
	return errors.Join(err, x.put(context.WithoutCancel(ctx), store.Stops, x.stops))
}

// stopInTime stops a server or router, which has its grace to end unless somebody is in a hurry: then it is killed, and taken back all the same.
func (x *execution) stopInTime(ctx context.Context, what containers.Instance) (containers.Exit, error) {
	hasty, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-x.Hurry:
			cancel()
		case <-hasty.Done():
		}
	}()
	return what.Stop(hasty)
}

// tellOfGrace says what an interrupted run waits for, and how to cut that short.
func (x *execution) tellOfGrace() {
	if x.asked != result.AskedOnSignal || x.Hurry == nil || x.plan.Server.Runtime == "endpoint" {
		return
	}
	grace := x.specs[0].StopGrace
	x.emit(result.Event{Kind: result.Logged, Text: fmt.Sprintf("waiting up to %s for the server to end; Ctrl-C again kills it", grace)})
}

// askedBy says why a run stops what it started.
func askedBy(err, cause error) string {
	switch {
	case errors.Is(cause, errCanceled):
		return result.AskedOnCancel
	case cause != nil:
		return result.AskedOnSignal
	case err != nil:
		return result.AskedOnFailure
	}
	return result.AskedAtEnd
}

// keeper keeps what is known of the machine.
func (c Config) keeper(tell func(result.Event)) node.Keeper {
	look := func(ctx context.Context) probes.SUT { return probes.Read(ctx, c.Host, c.Program) }
	return node.Keeper{Store: c.Store, Look: look, Now: c.Now, Tell: tell, Limit: c.MemoryLimit}
}

// awaitMemory waits until the accelerators' memory is back, once the servers have ended. Who stops the program waits for a moment only.
func (x *execution) awaitMemory(ctx context.Context, begun []phase) error {
	started := slices.ContainsFunc(begun, func(p phase) bool { return p.name == "start" })
	if !started || x.plan.Server.Runtime == "endpoint" || len(x.levels) == 0 {
		return nil
	}
	return x.step(context.WithoutCancel(ctx), "memory", "", func(safe context.Context) error {
		wait, cancel := context.WithCancel(safe)
		defer cancel()
		defer context.AfterFunc(ctx, func() { time.AfterFunc(node.Interrupted, cancel) })()
		r, err := x.keeper(x.emit).After(wait, x.levels, x.run.ID)
		return errors.Join(err, x.put(safe, store.GPUMemory, r))
	})
}

// CheckNode looks at the machine now, and takes it as it is with accept. A run that is under way looks for itself.
func (a *Agent) CheckNode(ctx context.Context, accept bool) (result.Node, error) {
	if _, running := a.Live(); running {
		return result.Node{}, fault.New(fault.Store, "busy", "wait until it has ended: it looks at the accelerators itself", "a run is under way: %w", store.ErrConflict)
	}
	return a.keeper(a.tellOfNode).Check(ctx, accept)
}

// tellOfNode tells of the node outside of any run.
func (a *Agent) tellOfNode(e result.Event) {
	a.Log.Warn("node", "is", e.Text)
	e.AtUS = a.nowUS()
	a.bus.Publish(e)
}
