package containers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"syscall"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/client"

	"assay/fault"
)

// DefaultSocket is where the Docker engine listens.
const DefaultSocket = "/var/run/docker.sock"

// The labels of everything that is started in Docker. Only what carries the owner's is ever removed.
const (
	labelOwner = "assay.owner"
	labelRun   = "assay.run"
	labelRole  = "assay.role"
)

// docker starts containers on the engine of this machine.
type docker struct{ socket string }

// DockerAt is the docker runtime on another socket than DefaultSocket.
func DockerAt(socket string) Runtime { return docker{socket: socket} }

// Name is the word in a plan.
func (docker) Name() string { return "docker" }

// connect reaches the engine and agrees on a version of its API with it.
func (d docker) connect(ctx context.Context) (*client.Client, error) {
	if err := d.reach(ctx); err != nil {
		return nil, d.unreachable(err)
	}
	c, err := client.NewClientWithOpts(client.WithHost("unix://"+d.socket), client.WithAPIVersionNegotiation())
	if err != nil {
		return nil, fmt.Errorf("make a docker client: %w", err)
	}
	if _, err := c.Ping(ctx); err != nil {
		return nil, errors.Join(d.unreachable(err), c.Close())
	}
	return c, nil
}

// reach tells why the socket cannot be used, in the system's words.
func (d docker) reach(ctx context.Context) error {
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "unix", d.socket)
	if err != nil {
		return err
	}
	return c.Close()
}

func (d docker) unreachable(err error) error {
	hint := "start it (systemctl start docker), or use runtime process"
	if errors.Is(err, fs.ErrPermission) {
		hint = "add this user to the group docker, or run as root"
	}
	return fault.New(fault.Server, "docker_unreachable", hint, "the Docker engine does not answer at %s: %w", d.socket, err)
}

// Reap removes the containers of an owner, running or not, with their volumes. An engine that cannot be reached because it is not
// there or not ours has nothing of ours.
func (d docker) Reap(ctx context.Context, owner string) ([]string, error) {
	err := d.reach(ctx)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	c, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	found, err := c.ContainerList(ctx, container.ListOptions{All: true, Filters: filters.NewArgs(filters.Arg("label", labelOwner+"="+owner))})
	if err != nil {
		return nil, fmt.Errorf("list containers: %w", err)
	}
	var names []string
	var failed error
	for _, f := range found {
		if err := removeContainer(ctx, c, f.ID); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		names = append(names, fmt.Sprintf("container %s (%s of run %s)", shortID(f.ID), f.Labels[labelRole], f.Labels[labelRun]))
	}
	return names, failed
}

// removeTimeout bounds a removal, also when the caller was interrupted.
const removeTimeout = 30 * time.Second

// removeContainer kills and removes a container with its volumes; one that is gone already is no error.
func removeContainer(ctx context.Context, c *client.Client, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
	defer cancel()
	err := c.ContainerRemove(ctx, id, container.RemoveOptions{Force: true, RemoveVolumes: true})
	if err != nil && !isNotFound(err) {
		return fmt.Errorf("remove container %s: %w", shortID(id), err)
	}
	return nil
}

func shortID(id string) string { return id[:min(12, len(id))] }

// Start creates and starts a container; when that fails nothing of it is left.
func (d docker) Start(ctx context.Context, s Spec) (Instance, error) {
	if err := checkPort(layerOf(s.Role), s.HostPort); err != nil {
		return nil, err
	}
	if err := writeFiles(s); err != nil {
		return nil, err
	}
	c, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	b, err := launch(ctx, c, s)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return b, nil
}
