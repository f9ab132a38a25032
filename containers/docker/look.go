package docker

import (
	"context"
	"path/filepath"
	"strconv"

	"assay/containers/inside"
	"assay/containers/port"
)

// Surroundings are where the software of the container can be looked at.
func (b *box) Surroundings() (string, inside.World) {
	return "container " + b.identity.Name, inside.Container{Client: b.client, ID: b.id}
}

// Published tells whether it is reached by a port of this machine that leads to one of its own.
func (b *box) Published() bool { return !b.spec.HostNet }

// ListensInside looks at the sockets of the container's network as the kernel lists them for its first process.
func (b *box) ListensInside(ctx context.Context) string {
	in, err := b.client.ContainerInspect(ctx, b.id)
	if err != nil || in.State == nil || in.State.Pid == 0 {
		return ""
	}
	address, only := port.LoopbackOnly(filepath.Join("/proc", strconv.Itoa(in.State.Pid)), b.spec.Port)
	if !only {
		return ""
	}
	return "inside, port " + strconv.Itoa(b.spec.Port) + " is listened on at " + address + " alone"
}
