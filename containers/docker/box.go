package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"

	"assay/containers/instance"
	"assay/containers/port"
	"assay/fault"
)

// box is a started container.
type box struct {
	client   *client.Client
	spec     instance.Spec
	id       string
	identity instance.Identity
	log      *os.File
	logged   chan struct{} // closed when the log is complete
	exited   chan instance.Exit
	gone     chan struct{} // closed when the container has ended and exit is set
	exit     instance.Exit
	stopping sync.Mutex // one Stop at a time
	mu       sync.Mutex // guards asked, and exit until gone is closed
	asked    bool
	removed  bool // guarded by stopping
	doubt    atomic.Bool
}

// follow watches a started container until it ends; ctx only bounds its start.
func follow(ctx context.Context, c *client.Client, s instance.Spec, id string, identity instance.Identity, log *os.File) *box {
	b := &box{client: c, spec: s, id: id, identity: identity, log: log, logged: make(chan struct{}), exited: make(chan instance.Exit, 1), gone: make(chan struct{})}
	ctx = context.WithoutCancel(ctx)
	go b.record(ctx)
	go b.wait(ctx)
	return b
}

// wait notices the end, and tells of it when the log is complete.
func (b *box) wait(ctx context.Context) {
	e := b.ended(ctx)
	b.mu.Lock()
	b.exit = e
	asked := b.asked
	b.mu.Unlock()
	late := time.NewTimer(logLate)
	defer late.Stop()
	select {
	case <-b.logged:
	case <-late.C:
	}
	if !asked {
		b.exited <- e
	}
	close(b.exited)
	close(b.gone)
}

// inspected adds to an exit code what the engine knows of its cause.
func (b *box) inspected(ctx context.Context, code int) instance.Exit {
	e := instance.ExitWith(b.identity.Name, code)
	in, err := b.client.ContainerInspect(ctx, b.id)
	if code == 0 && errdefs.IsNotFound(err) {
		return b.removedByOthers() // podman says 0 of a container that was killed and removed
	}
	if err != nil || in.State == nil {
		return e
	}
	if code == 0 && in.RestartCount > 0 { // Docker 20.10 answers 0 when it has started the container again meanwhile
		e = instance.ExitWith(b.identity.Name, b.diedWith(ctx))
	}
	e.Restarts, e.Error = in.RestartCount, in.State.Error
	if e.OOM = in.State.OOMKilled; e.OOM {
		e.Reason = "was killed for want of memory"
	}
	return e
}

// BaseURLs is the published port, or the host's own.
func (b *box) BaseURLs() []string { return []string{port.URL(b.spec.HostPort)} }

// Identity is what the engine said of image and command.
func (b *box) Identity() instance.Identity { return b.identity }

// LogPath is the file with its output.
func (b *box) LogPath() string { return b.log.Name() }

// Exited yields when the container ends without Stop.
func (b *box) Exited() <-chan instance.Exit { return b.exited }

// Stop ends the container gracefully, after the grace or when ctx ends for certain, and removes it with its volumes.
func (b *box) Stop(ctx context.Context) (instance.Exit, error) {
	b.stopping.Lock()
	defer b.stopping.Unlock()
	if b.removed {
		return b.exit, nil
	}
	if err := b.halt(ctx); err != nil {
		return instance.Exit{}, err
	}
	if err := removeContainer(ctx, b.client, b.id); err != nil {
		return b.exit, errors.Join(b.away(ctx), err)
	}
	b.removed = true
	b.spec.Gone(ctx)
	if err := b.client.Close(); err != nil {
		return b.exit, fmt.Errorf("close the docker client: %w", err)
	}
	return b.exit, nil
}

// halt stops the container, waits until that was noticed, and notes how it went.
func (b *box) halt(ctx context.Context) error {
	begun, forced := time.Now(), false
	if b.ask() {
		<-b.gone // its log may take a moment
		b.exit.Restarts = max(b.exit.Restarts, b.inspected(ctx, b.exit.Code).Restarts)
		return nil
	}
	seconds := int((b.spec.StopGrace + time.Second - 1) / time.Second)
	if err := b.client.ContainerStop(ctx, b.id, container.StopOptions{Timeout: &seconds}); err != nil && !errdefs.IsNotFound(err) {
		forced = true
		if err := removeContainer(ctx, b.client, b.id); err != nil { // the hard way
			return errors.Join(cmp.Or(b.away(ctx), b.stuck()), err)
		}
	}
	took := time.Since(begun)
	late := time.NewTimer(RemoveTimeout)
	defer late.Stop()
	select {
	case <-b.gone:
		b.exit = b.exit.Stopped(took, forced || b.exit.Code == instance.KilledCode && took >= time.Duration(seconds)*time.Second)
		return nil
	case <-late.C:
		return b.stuck()
	}
}

// ask notes that the container is asked to end, and tells whether it had ended before.
func (b *box) ask() (ended bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ended = b.exit.Reason != ""
	b.asked = b.asked || !ended
	return ended
}

// away says that the engine does not answer, so that nothing can be stopped; nil when it does. What it holds stays in the journal.
func (b *box) away(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), engineGoing)
	defer cancel()
	if _, err := b.client.Ping(ctx); err != nil {
		return fault.New(b.spec.Layer(), "docker_unreachable", "start the engine again (systemctl start docker): the container is then removed before anything else is started",
			"container %s could not be stopped and removed, since its engine does not answer: %w", b.identity.Name, err)
	}
	return nil
}

func (b *box) stuck() error {
	return fault.New(b.spec.Layer(), "not_stopped", "it may hang in a driver: look at dmesg; a reboot may be needed", "container %s does not end", b.identity.Name)
}
