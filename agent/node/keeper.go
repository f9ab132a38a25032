package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"assay/plan"
	"assay/probes"
	"assay/result"
	"assay/store"
)

// Keeper keeps what is known of a machine from one run to the next.
type Keeper struct {
	Store *store.Store
	Look  func(context.Context) probes.SUT // reads the machine
	Now   func() time.Time
	Tell  func(result.Event) // of marks that come and go, and of waiting
	Limit time.Duration      // how long memory is waited for after a run; 0 is AfterRun
}

// Before judges the machine, seen so, at the beginning of a run, and refuses the run when something is against it. Memory that an earlier run
// left is waited for a moment; the look that decided is given back.
func (k Keeper) Before(ctx context.Context, seen probes.SUT, run string) (probes.SUT, error) {
	had, err := k.Store.Node(ctx)
	if err != nil {
		return seen, err
	}
	dirty := func(s probes.SUT) []result.Mark { return ofState(Judge(had, s, k.nowUS()).Marks, result.NodeDirty) }
	if len(dirty(seen)) > 0 {
		seen, _ = k.wait(dirty, min(BeforeRun, k.limit())).Run(ctx)
	}
	now := Judge(had, seen, k.nowUS())
	for i := range now.Marks {
		if now.Marks[i].Run == "" {
			now.Marks[i].Run = run
		}
	}
	return seen, errors.Join(k.keep(ctx, had, now), Refusal(now))
}

// After waits until the accelerators are at their levels again, and marks the node with what is not when the wait is over.
func (k Keeper) After(ctx context.Context, levels []Level, run string) (result.Release, error) {
	begun := k.Now()
	seen, left := k.wait(func(s probes.SUT) []result.Mark { return Held(levels, s) }, k.limit()).Run(ctx)
	r := result.Release{WaitedS: float64(k.Now().Sub(begun).Milliseconds()) / 1000, Devices: Release(levels, seen)}
	safe := context.WithoutCancel(ctx)
	had, err := k.Store.Node(safe)
	if err != nil {
		return r, err
	}
	now := Mark(Judge(had, seen, k.nowUS()), left, seen, run, k.nowUS())
	r.Marks = now.Marks
	return r, k.keep(safe, had, now)
}

// Recover looks at what runs have left whose program was killed: those that the store still holds as running. It does not wait: the next run
// does.
func (k Keeper) Recover(ctx context.Context) error {
	killed, err := k.Store.Running(ctx)
	if err != nil {
		return err
	}
	had, err := k.Store.Node(ctx)
	if err != nil || len(had.Marks) == 0 && len(killed) == 0 {
		return err
	}
	seen := k.Look(ctx)
	now := Judge(had, seen, k.nowUS())
	for _, run := range killed {
		levels, err := k.levelsOf(ctx, run)
		if err != nil {
			return err
		}
		now = Mark(now, Held(levels, seen), seen, run.ID, k.nowUS())
	}
	return k.keep(ctx, had, now)
}

// Check looks at the machine now. With accept it is taken as it is.
func (k Keeper) Check(ctx context.Context, accept bool) (result.Node, error) {
	had, err := k.Store.Node(ctx)
	if err != nil {
		return had, err
	}
	seen := k.Look(ctx)
	now := Judge(had, seen, k.nowUS())
	if accept {
		now = Accept(seen, k.nowUS())
	}
	return now, k.keep(ctx, had, now)
}

// levelsOf reads what was in use before a run started its servers; of one that started none it is nothing.
func (k Keeper) levelsOf(ctx context.Context, run store.Run) ([]Level, error) {
	p, err := plan.Parse(run.Plan)
	if err != nil || p.Server.Runtime == "endpoint" {
		return nil, nil // what cannot be read was not started either
	}
	raw, err := k.Store.Document(ctx, run.ID, store.SUTBefore)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var before probes.SUT
	if err := json.Unmarshal(raw, &before); err != nil {
		return nil, fmt.Errorf("read the machine before run %s: %w", run.ID, err)
	}
	return Levels(before), nil
}

// keep stores a node, and tells what came and went.
func (k Keeper) keep(ctx context.Context, had, now result.Node) error {
	if err := k.Store.PutNode(ctx, now); err != nil {
		return err
	}
	added, removed := Changes(had, now)
	for _, m := range added {
		k.Tell(result.Event{Kind: result.NodeMarked, Text: string(m.State) + ": " + m.Text})
	}
	for _, m := range removed {
		k.Tell(result.Event{Kind: result.NodeCleared, Text: "not " + string(m.State) + " any more: " + m.Text})
	}
	return nil
}

func (k Keeper) wait(left func(probes.SUT) []result.Mark, limit time.Duration) Wait {
	return Wait{Look: k.Look, Left: left, Limit: limit, Tell: func(marks []result.Mark) {
		k.Tell(result.Event{Kind: result.Progressed, Phase: "memory", Text: Waiting(marks), Progress: &result.Progress{Stage: "memory"}})
	}}
}

func (k Keeper) limit() time.Duration {
	if k.Limit > 0 {
		return k.Limit
	}
	return AfterRun
}

func (k Keeper) nowUS() int64 { return k.Now().UnixMicro() }
