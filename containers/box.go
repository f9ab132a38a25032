package containers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
	"github.com/docker/docker/pkg/stdcopy"

	"assay/fault"
)

// engineAway is how long the engine may be away (a restart) before its container counts as lost.
const engineAway = time.Minute

// box is a started container.
type box struct {
	client   *client.Client
	spec     Spec
	id       string
	identity Identity
	log      *os.File
	logged   chan struct{} // closed when the log is complete
	exited   chan Exit
	gone     chan struct{} // closed when the container has ended and exit is set
	exit     Exit
	stopping sync.Mutex // one Stop at a time
	mu       sync.Mutex // guards asked
	asked    bool
	removed  bool // guarded by stopping
}

// follow watches a started container until it ends; ctx only bounds its start.
func follow(ctx context.Context, c *client.Client, s Spec, id string, identity Identity, log *os.File) *box {
	b := &box{client: c, spec: s, id: id, identity: identity, log: log, logged: make(chan struct{}), exited: make(chan Exit, 1), gone: make(chan struct{})}
	ctx = context.WithoutCancel(ctx)
	go b.record(ctx)
	go b.wait(ctx)
	return b
}

// record copies the container's output to its log file as it comes: after the removal it is gone.
func (b *box) record(ctx context.Context) {
	defer close(b.logged)
	defer b.log.Close()
	w := &cappedLog{f: b.log}
	out, err := b.client.ContainerLogs(ctx, b.id, container.LogsOptions{ShowStdout: true, ShowStderr: true, Follow: true})
	if err == nil {
		_, err = stdcopy.StdCopy(w, w, out)
		_ = out.Close()
	}
	if err != nil {
		_, _ = fmt.Fprintf(w, "\n[the log ends here: %v]\n", err)
	}
}

// wait notices the end, and tells of it when the log is complete.
func (b *box) wait(ctx context.Context) {
	e := b.ended(ctx)
	late := time.NewTimer(5 * time.Second)
	defer late.Stop()
	select {
	case <-b.logged:
	case <-late.C:
	}
	b.mu.Lock()
	b.exit = e
	if !b.asked {
		b.exited <- e
	}
	b.mu.Unlock()
	close(b.exited)
	close(b.gone)
}

// ended blocks until the container has ended. An engine that restarts meanwhile is asked again.
func (b *box) ended(ctx context.Context) Exit {
	var away time.Time
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		asked := time.Now()
		done, failed := b.client.ContainerWait(ctx, b.id, container.WaitConditionNotRunning)
		select {
		case r := <-done:
			return b.inspected(ctx, int(r.StatusCode))
		case err := <-failed:
			if isNotFound(err) {
				return Exit{Code: -1, Reason: "was removed by somebody else"}
			}
			if away.IsZero() || time.Since(asked) > 5*time.Second {
				away = time.Now()
			}
		}
		if time.Since(away) > engineAway {
			return Exit{Code: -1, Reason: "was lost: the Docker engine does not answer"}
		}
		<-tick.C
	}
}

// inspected adds to an exit code what the engine knows of its cause.
func (b *box) inspected(ctx context.Context, code int) Exit {
	e := Exit{Code: code, Reason: fmt.Sprintf("exited with code %d", code)}
	if code > 128 && code < 128+65 {
		e.Reason = fmt.Sprintf("was killed by signal %d", code-128)
	}
	in, err := b.client.ContainerInspect(ctx, b.id)
	if err != nil || in.State == nil {
		return e
	}
	if e.OOM = in.State.OOMKilled; e.OOM {
		e.Reason = "was killed for want of memory"
	}
	return e
}

// BaseURLs is the published port, or the host's own.
func (b *box) BaseURLs() []string { return loopback(b.spec.HostPort) }

// Identity is what the engine said of image and command.
func (b *box) Identity() Identity { return b.identity }

// LogPath is the file with its output.
func (b *box) LogPath() string { return b.log.Name() }

// Exited yields when the container ends without Stop.
func (b *box) Exited() <-chan Exit { return b.exited }

// Stop ends the container gracefully, after the grace or when ctx ends for certain, and removes it with its volumes.
func (b *box) Stop(ctx context.Context) (Exit, error) {
	b.stopping.Lock()
	defer b.stopping.Unlock()
	if b.removed {
		return b.exit, nil
	}
	b.mu.Lock()
	b.asked = true
	b.mu.Unlock()
	if err := b.halt(ctx); err != nil {
		return Exit{}, err
	}
	if err := removeContainer(ctx, b.client, b.id); err != nil {
		return b.exit, err
	}
	b.removed = true
	if err := b.client.Close(); err != nil {
		return b.exit, fmt.Errorf("close the docker client: %w", err)
	}
	return b.exit, nil
}

// halt stops the container and waits until that was noticed.
func (b *box) halt(ctx context.Context) error {
	select {
	case <-b.gone:
		return nil
	default:
	}
	seconds := int((b.spec.StopGrace + time.Second - 1) / time.Second)
	if err := b.client.ContainerStop(ctx, b.id, container.StopOptions{Timeout: &seconds}); err != nil && !isNotFound(err) {
		if err := removeContainer(ctx, b.client, b.id); err != nil { // the hard way
			return errors.Join(b.stuck(), err)
		}
	}
	late := time.NewTimer(removeTimeout)
	defer late.Stop()
	select {
	case <-b.gone:
		return nil
	case <-late.C:
		return b.stuck()
	}
}

func (b *box) stuck() error {
	return fault.New(layerOf(b.spec.Role), "not_stopped", "it may hang in a driver: look at dmesg; a reboot may be needed", "container %s does not end", b.identity.Name)
}
