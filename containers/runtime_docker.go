package containers

import (
	"context"
	"errors"
)

// DefaultSocket is where the Docker engine listens.
const DefaultSocket = "/var/run/docker.sock"

type docker struct{ socket string }

func (docker) Name() string                                                   { return "docker" }
func (docker) Prepare(ctx context.Context, s Spec, progress func(Pull)) error { return nil }
func (docker) Start(ctx context.Context, s Spec) (Instance, error)            { return nil, errors.ErrUnsupported }
func (docker) Reap(ctx context.Context, owner string) ([]string, error)       { return nil, errors.ErrUnsupported }
