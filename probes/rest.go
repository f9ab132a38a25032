package probes

import (
	"context"
	"time"

	"assay/probes/check"
)

// A GPU is at rest when one of so many looks, so far apart, shows no load.
const (
	restLooks = 3
	restPause = 5 * time.Second
)

// ReadAtRest is Read, and where GPUs show a load that no process explains, Read again up to twice: drivers tell means of a time that is over.
func ReadAtRest(ctx context.Context, h Host, p Program) SUT {
	s := Read(ctx, h, p)
	for look := 1; look < restLooks && h.Live && check.BusyAlone(s); look++ {
		select {
		case <-ctx.Done():
			return s
		case <-time.After(restPause):
		}
		s = Read(ctx, h, p)
	}
	return s
}
