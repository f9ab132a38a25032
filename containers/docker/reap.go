package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"

	"assay/containers/instance"
	"assay/containers/leftover"
)

// Reap removes the containers of an owner, running or not, with their volumes. An engine that cannot be reached because it is not there
// or not ours has nothing of ours, unless something was expected there.
func (r Runtime) Reap(ctx context.Context, s leftover.Search) leftover.Found {
	ask, cancel := context.WithTimeout(ctx, leftover.Ask)
	defer cancel()
	err := r.reach(ask)
	if len(s.Expected) == 0 && (r.At.Refused != nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrPermission)) {
		return leftover.Found{}
	}
	c, err := r.connect(ask)
	if err != nil {
		return leftover.Found{Failed: err, Stuck: leftover.Unknown(s.Expected, err)}
	}
	defer c.Close()
	return leftover.Containers(ctx, c, leftover.Labels{Owner: labelOwner, Run: labelRun, Role: labelRole}, s)
}

// RemoveTimeout bounds a removal, also when the caller was interrupted.
const RemoveTimeout = 30 * time.Second

// removeContainer kills and removes a container with its volumes; one that is gone already is no error.
func removeContainer(ctx context.Context, c *client.Client, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), RemoveTimeout)
	defer cancel()
	err := c.ContainerRemove(ctx, id, container.RemoveOptions{Force: true, RemoveVolumes: true})
	if err != nil && !errdefs.IsNotFound(err) {
		return fmt.Errorf("remove container %.12s: %w", id, err)
	}
	return nil
}

// unmade removes what a start that failed may have left all the same: the engine may have created a container of which this program did not
// hear, because its answer was lost or the caller gave up.
func unmade(ctx context.Context, c *client.Client, s instance.Spec) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), RemoveTimeout)
	defer cancel()
	old, err := c.ContainerInspect(ctx, s.Name())
	if err == nil && old.Config != nil && old.Config.Labels[labelOwner] == s.Owner {
		err = removeContainer(ctx, c, old.ID)
	}
	if err == nil || errdefs.IsNotFound(err) {
		s.Gone(ctx)
		return nil
	}
	return err
}
