package containers

import (
	"context"
	"slices"

	"assay/containers/docker"
	"assay/containers/inside"
)

// surrounded is an instance whose software can be looked at.
type surrounded interface {
	Surroundings() (where string, w inside.World)
}

// Inside is what a server that runs stands on, nil for one that was not started here. It is looked at beside the server, which is not
// touched; do it while nothing is measured. Of several the first is looked at: all run one image, or one program.
func Inside(ctx context.Context, inst Instance) *inside.Software {
	s, ok := Members(inst)[0].(surrounded)
	if !ok {
		return nil
	}
	where, w := s.Surroundings()
	return inside.Read(ctx, where, w)
}

// doubtful is an instance whose end may be noticed some time before it can be told.
type doubtful interface{ InDoubt() bool }

// DoubtLimit is how long that may take.
const DoubtLimit = docker.DoubtLimit

// InDoubt tells that an instance has ended or that its container engine does not answer, while Exited does not tell yet what came of it.
func InDoubt(inst Instance) bool {
	return slices.ContainsFunc(Members(inst), func(m Instance) bool {
		d, ok := m.(doubtful)
		return ok && d.InDoubt()
	})
}

// published is an instance that is reached by a port of this machine which leads to one of its own.
type published interface {
	Published() bool
	ListensInside(ctx context.Context) string // how it is known that it listens on its own loopback alone; "" when that is not known
}
