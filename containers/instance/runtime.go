package instance

import (
	"context"

	"assay/containers/image"
	"assay/containers/leftover"
)

// Runtime starts specs of one kind.
type Runtime interface {
	Name() string                                                                     // the word in a plan
	Prepare(ctx context.Context, s Spec, progress func(image.Progress)) (Spec, error) // pull by digest and verify; gives the spec to start
	Start(ctx context.Context, s Spec) (Instance, error)                              // when it fails, nothing of it is left
	Reap(ctx context.Context, s leftover.Search) leftover.Found                       // removes what a killed program left
}

// Instance is a started server or router.
type Instance interface {
	BaseURLs() []string                     // http://127.0.0.1:port, no path; https or unix only for endpoint
	Identity() Identity                     // what runs, as the runtime tells it
	LogPath() string                        // file with the output so far; "" for endpoint, and for several servers: each member has its own
	Exited() <-chan Exit                    // closed after one value when the instance ends by itself, without a value after Stop
	Stop(ctx context.Context) (Exit, error) // graceful, then hard after the grace; idempotent
}
