package instance

import (
	"context"

	"assay/containers/leftover"
	"assay/containers/mark"
)

// intent is what a spec is about to start.
func (s Spec) intent() leftover.Intent {
	return leftover.Intent{Run: s.Run, Role: s.Role, Runtime: s.Runtime, Name: s.Name(), Image: s.StartedImage()}
}

// Intend writes down what is about to be made. Without a journal there is nobody to read it after a crash.
func (s Spec) Intend(ctx context.Context) error {
	if s.Journal == nil {
		return nil
	}
	return s.Journal.Intend(context.WithoutCancel(ctx), s.intent())
}

// Made adds to the intent by what the started is known: a container by its id, a process by its session too, which its workers share.
func (s Spec) Made(ctx context.Context, id string, session *mark.Session) {
	if s.Journal == nil {
		return
	}
	i := s.intent()
	i.ID, i.Session = id, session
	s.Journal.Made(context.WithoutCancel(ctx), i)
}

// Gone strikes out what the spec started.
func (s Spec) Gone(ctx context.Context) {
	if s.Journal != nil {
		s.Journal.Gone(context.WithoutCancel(ctx), s.intent())
	}
}
