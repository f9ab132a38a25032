package docker

import (
	"context"
	"errors"

	"github.com/docker/docker/client"

	"assay/containers/image"
	"assay/containers/instance"
	"assay/containers/launch"
	"assay/containers/limits"
	"assay/containers/port"
	"assay/containers/socket"
)

// The labels of everything that is started in Docker. Only what carries the owner's is ever removed.
const (
	labelOwner = "assay.owner"
	labelRun   = "assay.run"
	labelRole  = "assay.role"
)

// Runtime starts containers on a container engine.
type Runtime struct{ At socket.Place }

// Name is the word in a plan.
func (Runtime) Name() string { return "docker" }

// agree finds what the spec asks for on this machine, and holds it against what the engine can give.
func (r Runtime) agree(ctx context.Context, c *client.Client, s instance.Spec) (launch.Terms, error) {
	e, err := limits.Ask(ctx, c, "/", r.path())
	if err != nil {
		return launch.Terms{}, err
	}
	wanted := limits.Wanted{Ulimits: s.Rights.Ulimits, Wishes: s.Rights.Wishes, Devices: s.Rights.Devices, Capabilities: s.Rights.Capabilities,
		SecurityOpt: s.Rights.SecurityOpt, Privileged: s.Rights.Privileged}
	return launch.ForContainer("/", launch.Asked{GPUs: s.GPUs, Wished: s.GPUsWished, GPUAccess: s.GPUAccess, CPUs: s.CPUs, NUMA: s.NUMA, Rights: wanted}, e)
}

// Prepare makes sure that what is mounted is there, that the engine can give what is asked for, and that the image is there and is the one that was pinned.
func (r Runtime) Prepare(ctx context.Context, s instance.Spec, progress func(image.Progress)) (instance.Spec, error) {
	if err := r.sourcesExist(s); err != nil {
		return s, err
	}
	c, err := r.connect(ctx)
	if err != nil {
		return s, err
	}
	defer c.Close()
	terms, err := r.agree(ctx, c, s)
	if err != nil {
		return s, err
	}
	s.Remarks = terms.Given.Remarks
	if s.Prepared != nil { // by another of the plan's servers
		return s, nil
	}
	found, err := image.Prepare(ctx, c, image.Wanted{Role: s.Role, Image: s.Image, Unpinned: s.Unpinned, File: s.ImageFile, Base: s.BaseImage}, progress)
	if err != nil {
		return s, err
	}
	s.Prepared = &found
	return s, nil
}

// Start creates and starts a container; when that fails nothing of it is left.
func (r Runtime) Start(ctx context.Context, s instance.Spec) (instance.Instance, error) {
	if err := port.Check(s.Layer(), s.HostPort); err != nil {
		return nil, err
	}
	if err := s.WriteFiles(); err != nil {
		return nil, err
	}
	c, err := r.connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.Intend(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	b, err := r.startNew(ctx, c, s)
	if err != nil {
		return nil, errors.Join(err, unmade(ctx, c, s), c.Close())
	}
	s.Made(ctx, b.id, nil)
	return b, nil
}
