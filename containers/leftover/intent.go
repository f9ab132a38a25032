package leftover

import (
	"context"
	"slices"

	"assay/containers/mark"
)

// Intent is what is to be started, as it is written down before it is. The mark on what was started proves whose it is; the intent says
// what to look for.
type Intent struct {
	Run     string        `json:"run"`
	Role    string        `json:"role"`
	Runtime string        `json:"runtime"`
	Name    string        `json:"name"`              // of the container; a process has the same kind of name here
	Image   string        `json:"image,omitempty"`   // docker: id of the image
	ID      string        `json:"id,omitempty"`      // docker: the container's, once it was made
	Session *mark.Session `json:"session,omitempty"` // process: once it runs
	Trouble string        `json:"trouble,omitempty"` // why it could not be removed, when that was tried
}

// Journal keeps intents where a crash does not reach them.
type Journal interface {
	Intend(ctx context.Context, i Intent) error // before it is made: without a word of it nothing is made
	Made(ctx context.Context, i Intent)         // more is known of it
	Gone(ctx context.Context, i Intent)         // nothing is left of it
}

// OfRuntime are the intents of one runtime.
func OfRuntime(all []Intent, runtime string) []Intent {
	return slices.DeleteFunc(slices.Clone(all), func(i Intent) bool { return i.Runtime != runtime })
}

// Name is of a container, the same for each try of a run's role, so that one whose creation was not heard of is found again.
func Name(run, role string) string { return "assay-" + run + "-" + role }
