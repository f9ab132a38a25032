package docker

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/events"
	"github.com/docker/docker/api/types/filters"

	"assay/containers/instance"
	"assay/containers/logs"
)

const (
	engineAway  = 30 * time.Second // how long the engine may be away (a restart) before its container counts as lost
	engineGoing = 2 * time.Second  // how soon an engine that stops goes away after it ended its containers
	orderTold   = 3 * time.Second  // how late the engine may tell that it was told to end or to remove a container
	logLate     = 5 * time.Second  // how long the end waits for the rest of the log
)

// DoubtLimit is how long an instance may be in doubt.
const DoubtLimit = engineGoing + engineAway + orderTold + logLate + time.Second

// record copies the container's output to its log file as it comes: after the removal it is gone. When the engine was away it goes on where
// it was.
func (b *box) record(ctx context.Context) {
	defer close(b.logged)
	defer b.log.Close()
	w := &logs.Capped{File: b.log}
	var away time.Time
	for {
		asked := time.Now()
		err := logs.Rest(ctx, b.client, b.id, b.log, w, true)
		if err == nil {
			return
		}
		if away.IsZero() || time.Since(asked) > 5*time.Second {
			away = time.Now()
		}
		if errdefs.IsNotFound(err) || time.Since(away) > engineAway || !b.pause() {
			_, _ = fmt.Fprintf(w, "\n[the log ends here: %v]\n", err)
			return
		}
	}
}

// pause waits a moment; false when the container's end was told meanwhile.
func (b *box) pause() bool {
	t := time.NewTimer(time.Second)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-b.gone:
		return false
	}
}

// ended blocks until the container has ended. An engine that restarts meanwhile is asked again: its containers go on where it is set up so,
// and end with it where it is not.
func (b *box) ended(ctx context.Context) instance.Exit {
	for {
		b.doubt.Store(false)
		done, failed := b.client.ContainerWait(ctx, b.id, container.WaitConditionNotRunning)
		select {
		case r := <-done:
			b.doubt.Store(true)
			e := b.inspected(ctx, int(r.StatusCode))
			if b.stoppable(e) && b.ordered(ctx) {
				e.Outside, e.Reason = true, e.Reason+", as somebody told its container engine"
			}
			if b.engineGoes(ctx, e) { // when it is back, the container can be removed
				e, _ = b.afterRestart(ctx)
			}
			return e
		case err := <-failed:
			b.doubt.Store(true)
			if errdefs.IsNotFound(err) {
				return b.removedByOthers()
			}
			if e, ended := b.afterRestart(ctx); ended {
				return e
			}
		}
	}
}

// InDoubt tells that the container has ended or its engine does not answer, and that Exited does not tell yet what came of it.
func (b *box) InDoubt() bool { return b.doubt.Load() }

func (b *box) removedByOthers() instance.Exit {
	return instance.Exit{Name: b.identity.Name, Code: -1, Reason: "was removed by somebody else", Outside: true}
}

const restartedReason = "ended when the container engine was restarted"

// afterRestart waits for an engine that was lost, and tells how the container came out of it; false when it still runs.
func (b *box) afterRestart(ctx context.Context) (instance.Exit, bool) {
	since := time.Now()
	for {
		in, err := b.client.ContainerInspect(ctx, b.id)
		switch {
		case errdefs.IsNotFound(err):
			return b.removedByOthers(), true
		case err == nil && in.State != nil && in.State.Running:
			b.pause()
			return instance.Exit{}, false
		case err == nil && in.State != nil:
			e := b.inspected(ctx, in.State.ExitCode)
			e.Reason, e.Restarted = restartedReason, true
			return e, true
		}
		if time.Since(since) > engineAway {
			return instance.Exit{Name: b.identity.Name, Code: -1, Reason: "was lost: its container engine does not answer", Away: err}, true
		}
		b.pause()
	}
}

// stoppable tells an end that a signal may have brought about for which nobody here asked.
func (b *box) stoppable(e instance.Exit) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.asked && !e.OOM && slices.Contains([]int{0, instance.KilledCode, 128 + 15}, e.Code)
}

// ordered tells whether the engine was told to send the container a signal or to remove it. It says so at about the time of the end: Docker
// names the signal of a removal by force too, podman only the removal.
func (b *box) ordered(ctx context.Context) bool {
	_, told := b.heard(ctx, "kill", "destroy", "remove")
	return told
}

// diedWith is the exit code that the engine told when the container ended; 0 when it does not tell.
func (b *box) diedWith(ctx context.Context) int {
	end, _ := b.heard(ctx, "die")
	code, _ := strconv.Atoi(end.Actor.Attributes["exitCode"])
	return code
}

// heard gives the first word of the engine on any of such events of the container within the last minute.
func (b *box) heard(ctx context.Context, kinds ...string) (events.Message, bool) {
	ctx, cancel := context.WithTimeout(ctx, orderTold)
	defer cancel()
	these := filters.NewArgs(filters.Arg("type", "container"), filters.Arg("container", b.id))
	for _, k := range kinds {
		these.Add("event", k)
	}
	told, _ := b.client.Events(ctx, events.ListOptions{Since: "1m", Filters: these})
	select {
	case m := <-told:
		return m, true
	case <-ctx.Done():
		return events.Message{}, false
	}
}

// engineGoes tells whether the engine goes away right after an end that nobody asked for and that a stopping engine brings about: it ends
// its containers first.
func (b *box) engineGoes(ctx context.Context, e instance.Exit) bool {
	if !b.stoppable(e) {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, engineGoing)
	defer cancel()
	told, broken := b.client.Events(ctx, events.ListOptions{})
	for {
		select {
		case <-told:
		case err := <-broken:
			return err != nil && ctx.Err() == nil // it broke before its time
		}
	}
}
