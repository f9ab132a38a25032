package containers

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"assay/containers/endpoint"
	"assay/containers/engine"
	"assay/containers/instance"
	"assay/containers/ready"
	"assay/fault"
)

// The stages of readiness, in order, as progress reports them.
const (
	StageProcess = ready.StageProcess
	StagePort    = ready.StagePort
	StageHealth  = ready.StageHealth
	StageModel   = ready.StageModel
	StageTokens  = ready.StageTokens
)

// ReadyOptions bounds the wait and says what is waited for.
type ReadyOptions struct {
	Timeout time.Duration // from the call to the first token; 0: ten minutes
	Port    time.Duration // until a connection is taken; 0, as for the next three: what Timeout leaves
	Health  time.Duration
	List    time.Duration // until the model is listed
	Token   time.Duration
	Idle    time.Duration // longest time in which the log says nothing new; 0: fifteen minutes

	Said func(line string) // hears what the log says meanwhile; nil: nobody does

	Model     string // served name; "" takes the first that is listed
	Access    Access
	Endpoint  string // chat | completions; "" is chat
	transport http.RoundTripper
}

const (
	defaultTimeout = 10 * time.Minute
	defaultIdle    = 15 * time.Minute
)

// Ready waits until a token flows: process up → port → health → model listed → one real streamed request, each within its limit. It fails at
// once when the instance ends, and says which stage was reached and what was answered last when the time is up or the log says nothing
// new. Progress hears of each stage, and of each part of the start that the log tells ("loading: weights"). The members of an instance are
// waited for side by side, each through its own address.
func Ready(ctx context.Context, inst Instance, p Preset, opt ReadyOptions, progress func(stage string)) (Identity, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, cmp.Or(opt.Timeout, defaultTimeout), ready.ErrLate)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go watch(ctx, inst, stop)
	members, told, said := Members(inst), oneAtATime(progress), oneAtATime(opt.Said)
	each := make([][]Identity, len(members))
	failed := make([]error, len(members))
	sideBySide(len(members), func(i int) {
		one, opt, role := told, opt, members[i].Identity().Role
		opt.Said = said
		if len(members) > 1 {
			one = func(stage string) { told(role + ": " + stage) }
			opt.Said = func(line string) { said(role + ": " + line) }
		}
		each[i], failed[i] = awaitMember(ctx, members[i], p, opt, one)
		if failed[i] != nil && len(members) > 1 {
			failed[i] = named(role, failed[i])
			stop(failed[i]) // the others are not waited for
		}
	})
	if err := errors.Join(failed...); err != nil {
		return Identity{}, whoFailed(ctx, failed)
	}
	return together(inst.Identity(), slices.Concat(each...)), nil
}

// whoFailed is the error of the one that failed first: the others were given up because of it.
func whoFailed(ctx context.Context, failed []error) error {
	var first *fault.Fault
	if len(failed) == 1 {
		return failed[0]
	}
	if errors.As(context.Cause(ctx), &first) {
		return first
	}
	return errors.Join(failed...)
}

// awaitMember waits for one server with its log, or for each of several that somebody else runs.
func awaitMember(ctx context.Context, inst Instance, p Preset, opt ReadyOptions, progress func(stage string)) ([]Identity, error) {
	limits := ready.Limits{All: cmp.Or(opt.Timeout, defaultTimeout), Port: opt.Port, Health: opt.Health, Model: opt.List, Token: opt.Token}
	ctx, stop := context.WithCancelCause(ctx)
	var log *ready.Log
	var watching sync.WaitGroup
	defer watching.Wait()
	defer stop(nil)
	if path := inst.LogPath(); path != "" {
		log = ready.NewLog(path, p, func(phase string) { progress("loading: " + phase) })
		log.Said = opt.Said
		watching.Go(func() { log.Watch(ctx, cmp.Or(opt.Idle, defaultIdle), stop) })
	}
	var each []Identity
	for _, base := range inst.BaseURLs() {
		told, err := ready.Wait(ctx, waitedFor(ctx, inst, base, p, opt, log), limits, progress)
		if err != nil {
			return nil, err
		}
		opt.Model = told.Model // where it was left open, all serve what the first one lists
		each = append(each, identify(ctx, inst, p, told, log))
	}
	return each, nil
}

// oneAtATime lets several call what hears them; nil hears nothing.
func oneAtATime(hears func(string)) func(string) {
	var one sync.Mutex
	return func(text string) {
		one.Lock()
		defer one.Unlock()
		if hears != nil {
			hears(text)
		}
	}
}

// waitedFor is one server of an instance.
func waitedFor(ctx context.Context, inst Instance, base string, p Preset, opt ReadyOptions, log *ready.Log) ready.Server {
	s := ready.Server{Layer: instance.Layer(inst.Identity().Role), Base: base, Preset: p, Access: opt.Access, Model: opt.Model, Endpoint: opt.Endpoint, Transport: opt.transport, Log: log}
	if s.Transport == nil {
		s.Transport = engine.NewTransport(base, opt.Access)
	}
	if behind, ok := inst.(published); ok && behind.Published() {
		s.Inside = func() string {
			look, cancel := context.WithTimeout(context.WithoutCancel(ctx), engine.Timeout) // it is looked when the wait has ended, too
			defer cancel()
			return cmp.Or(behind.ListensInside(look), log.Inside())
		}
	}
	return s
}

// watch ends the wait when the instance does.
func watch(ctx context.Context, inst Instance, stop context.CancelCauseFunc) {
	select {
	case e, ok := <-inst.Exited():
		if !ok { // somebody else has taken the value
			e, _ = inst.Stop(ctx)
		}
		stop(ExitFault(inst, e))
	case <-ctx.Done():
	}
}

// identify is what the runtime knows of a server, and what the server says of itself.
func identify(ctx context.Context, inst Instance, p Preset, told ready.Told, log *ready.Log) Identity {
	i := inst.Identity()
	if i.Runtime == (endpoint.Runtime{}).Name() {
		i.Name = told.Ask.Base
	}
	for _, m := range told.Models {
		i.Models = append(i.Models, m.ID)
		if m.ID == told.Model || slices.Contains(m.Aliases, told.Model) {
			i.MaxModelLen = m.MaxModelLen
		}
	}
	f, hide := p.Describe(ctx, told.Ask), told.Ask.HideIn
	i.Quantization, i.DType = hide(f.Quantization), hide(f.DType)
	i.Version, i.KVTokens, i.MaxModelLen = hide(f.Version), f.KVTokens, cmp.Or(f.MaxModelLen, i.MaxModelLen)
	i.Start = &Start{Stages: told.Stages}
	var printed []engine.Setting
	if log != nil {
		i.Start.Loading, printed = log.Parts(), log.Settings()
	}
	i.Settings = engine.Sizes(engine.Known(f.Settings, printed, engine.ArgumentSettings(i.Argv)))
	for n, s := range i.Settings {
		i.Settings[n].Value = hide(s.Value)
	}
	return i
}
