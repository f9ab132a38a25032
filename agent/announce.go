package agent

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"

	"assay/agent/events"
	"assay/result"
	"assay/store"
)

// announce publishes an event of a run that is not being executed at the moment, and keeps it in the run's folder.
func (a *Agent) announce(e result.Event) {
	e.AtUS = a.nowUS()
	e = a.bus.Publish(e)
	if l, err := events.Open(a.Store.RunDir(e.Run)); err == nil {
		l.Append(e)
		_ = l.Close()
	}
}

// rememberedRuns is of how many of the newest runs the events are known again after a restart.
const rememberedRuns = 20

// remember fills the bus with what the newest runs' logs hold, so that who followed an earlier daemon misses nothing.
func (a *Agent) remember(ctx context.Context) error {
	runs, _, err := a.Store.Runs(ctx, store.Filter{Limit: rememberedRuns})
	if err != nil {
		return err
	}
	var past []result.Event
	for _, r := range runs {
		past = append(past, events.Read(filepath.Join(a.Store.RunDir(r.ID), result.EventsName))...)
	}
	slices.SortFunc(past, func(x, y result.Event) int { return cmp.Compare(x.Seq, y.Seq) })
	a.bus.Restore(past)
	return nil
}
