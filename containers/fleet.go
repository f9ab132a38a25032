package containers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"assay/fault"
)

// PrepareAll prepares the specs of one plan's servers. They share an image, which is found for the first of them.
func PrepareAll(ctx context.Context, rt Runtime, specs []Spec, progress func(Pull)) ([]Spec, error) {
	var out []Spec
	for i, s := range specs {
		if i > 0 {
			s.Prepared = out[0].Prepared
		}
		s, err := rt.Prepare(ctx, s, progress)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// StartAll starts the servers of one plan side by side. When one of them cannot be started, the others are stopped.
func StartAll(ctx context.Context, rt Runtime, specs []Spec) (Instance, error) {
	if len(specs) == 1 {
		return rt.Start(ctx, specs[0])
	}
	started := make([]Instance, len(specs))
	failed := make([]error, len(specs))
	sideBySide(len(specs), func(i int) {
		if started[i], failed[i] = rt.Start(ctx, specs[i]); failed[i] != nil {
			failed[i] = named(specs[i].Role, failed[i])
		}
	})
	if err := errors.Join(failed...); err != nil {
		return nil, errors.Join(err, stopStarted(context.WithoutCancel(ctx), started, failed))
	}
	return newFleet(started), nil
}

// stopStarted stops those whose start did not fail.
func stopStarted(ctx context.Context, started []Instance, failed []error) error {
	errs := make([]error, len(started))
	sideBySide(len(started), func(i int) {
		if failed[i] == nil {
			_, errs[i] = started[i].Stop(ctx)
		}
	})
	return errors.Join(errs...)
}

// sideBySide does something n times at once, and waits for all.
func sideBySide(n int, do func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { do(i) })
	}
	wg.Wait()
}

// Members are the servers of an instance, each with its own address, log and end; of one server itself.
func Members(inst Instance) []Instance {
	if f, ok := inst.(*fleet); ok {
		return f.members
	}
	return []Instance{inst}
}

// fleet is several servers that share the requests.
type fleet struct {
	members []Instance
	exited  chan Exit
	end     sync.Once
	ended   Instance // that ended first by itself; set before exited yields
}

func newFleet(members []Instance) *fleet {
	f := &fleet{members: members, exited: make(chan Exit, 1)}
	go func() {
		sideBySide(len(members), func(i int) {
			if e, ok := <-members[i].Exited(); ok {
				f.end.Do(func() { f.ended = members[i]; f.exited <- e; close(f.exited) })
			}
		})
		f.end.Do(func() { close(f.exited) })
	}()
	return f
}

// BaseURLs are those of all, in their order.
func (f *fleet) BaseURLs() []string {
	var urls []string
	for _, m := range f.members {
		urls = append(urls, m.BaseURLs()...)
	}
	return urls
}

// Identity is what all have in common; Servers has each.
func (f *fleet) Identity() Identity {
	var each []Identity
	for _, m := range f.members {
		each = append(each, m.Identity())
	}
	return together(Identity{Role: "server", Runtime: each[0].Runtime}, each)
}

// LogPath is empty: each has its own.
func (f *fleet) LogPath() string { return "" }

// Exited yields when the first of them ends by itself.
func (f *fleet) Exited() <-chan Exit { return f.exited }

// Stop stops all side by side. The exit has that of each.
func (f *fleet) Stop(ctx context.Context) (Exit, error) {
	exits := make([]Exit, len(f.members))
	failed := make([]error, len(f.members))
	sideBySide(len(f.members), func(i int) {
		exits[i], failed[i] = f.members[i].Stop(ctx)
		exits[i].Name = f.members[i].Identity().Name
	})
	return Exit{Name: f.Identity().Name, Members: exits}, errors.Join(failed...)
}

// named says which of several servers an error is of.
func named(role string, err error) error {
	var f *fault.Fault
	if !errors.As(err, &f) {
		return fmt.Errorf("%s: %w", role, err)
	}
	if strings.Contains(f.Text, role) {
		return err
	}
	return &fault.Fault{Layer: f.Layer, Code: f.Code, Text: role + ": " + f.Text, Hint: f.Hint, Cause: err}
}
