package agent

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"assay/fault"
	"assay/result"
	"assay/store"
)

// eventLog keeps a run's events as JSON lines, so that a page can show an ended run as it went.
type eventLog struct{ file *os.File }

func openEventLog(dir string) (*eventLog, error) {
	f, err := os.OpenFile(filepath.Join(dir, result.EventsName), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fault.New(fault.Store, "not_writable", "choose another directory with --data, or free some space",
			"open the run's event log: %w", err)
	}
	return &eventLog{file: f}, nil
}

// append writes one event. The log is a convenience: a full disk shows in the documents and recordings, which do not forgive it.
func (l *eventLog) append(e result.Event) {
	b, err := json.Marshal(e)
	if err != nil {
		return
	}
	_, _ = l.file.Write(append(b, '\n'))
}

func (l *eventLog) close() error { return l.file.Close() }

// announce publishes an event of a run that is not being executed at the moment, and keeps it in the run's folder.
func (a *Agent) announce(e result.Event) {
	e.AtUS = a.nowUS()
	e = a.bus.publish(e)
	if l, err := openEventLog(a.Store.RunDir(e.Run)); err == nil {
		l.append(e)
		_ = l.close()
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
		past = append(past, readEvents(filepath.Join(a.Store.RunDir(r.ID), result.EventsName))...)
	}
	slices.SortFunc(past, func(x, y result.Event) int { return cmp.Compare(x.Seq, y.Seq) })
	a.bus.restore(past)
	return nil
}

// readEvents reads a log as far as it can be read; a run that never began has none.
func readEvents(name string) []result.Event {
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	var all []result.Event
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e result.Event
		if json.Unmarshal(lines.Bytes(), &e) == nil {
			all = append(all, e)
		}
	}
	return all
}
