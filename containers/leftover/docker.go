package leftover

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/client"

	"assay/containers/logs"
)

// Labels are the names of the labels that say whose a container is.
type Labels struct{ Owner, Run, Role string }

// Containers removes the containers of an owner, running or not, with their volumes. Those of other owners are told.
func Containers(ctx context.Context, c *client.Client, names Labels, s Search) (f Found) {
	ask, cancel := context.WithTimeout(ctx, Ask)
	defer cancel()
	r := reaper{client: c, names: names, search: s}
	found, err := r.listSettled(ask)
	if err != nil { // what was expected is found by its name too
		if found, f.Failed = r.byName(ask), err; len(found) < len(s.Expected) {
			f.Stuck = Unknown(s.Expected, err)
		}
	}
	for _, one := range found {
		if one.Labels[names.Owner] == s.Owner {
			r.ours = append(r.ours, one)
		} else {
			f.Foreign = append(f.Foreign, fmt.Sprintf("container %s of data directory %s", shortID(one.ID), one.Labels[names.Owner]))
		}
	}
	removed, left := r.remove(ctx)
	f.Removed = removed
	if f.Stuck = append(f.Stuck, left...); f.Failed != nil {
		return f
	}
	for _, i := range s.Expected {
		if !slices.ContainsFunc(r.ours, func(o container.Summary) bool { return isNamed(o, i.Name) }) {
			f.Absent = append(f.Absent, i)
		}
	}
	return f
}

func shortID(id string) string { return id[:min(12, len(id))] }

// listOwned lists the containers of every data directory.
func (r reaper) listOwned(ctx context.Context) ([]container.Summary, error) {
	found, err := r.client.ContainerList(ctx, container.ListOptions{All: true, Filters: filters.NewArgs(filters.Arg("label", r.names.Owner))})
	if err != nil {
		return nil, fmt.Errorf("list containers: %w", err)
	}
	return found, nil
}

// listSettled lists them, and waits a moment for what was about to be created: the engine goes on with a request whose sender was killed.
func (r reaper) listSettled(ctx context.Context) ([]container.Summary, error) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	end := time.NewTimer(beingCreated)
	defer end.Stop()
	for {
		found, err := r.listOwned(ctx)
		coming := slices.ContainsFunc(r.search.Expected, func(i Intent) bool {
			return i.ID == "" && !slices.ContainsFunc(found, func(o container.Summary) bool { return isNamed(o, i.Name) })
		})
		if err != nil || !coming {
			return found, err
		}
		select {
		case <-tick.C:
		case <-end.C:
			return found, nil
		}
	}
}

// byName looks for what was expected.
func (r reaper) byName(ctx context.Context) (out []container.Summary) {
	for _, i := range r.search.Expected {
		in, err := r.client.ContainerInspect(ctx, i.Name)
		if err != nil || in.ContainerJSONBase == nil || in.Config == nil {
			continue
		}
		out = append(out, container.Summary{ID: in.ID, Names: []string{in.Name}, ImageID: in.Image, Labels: in.Config.Labels, State: "unknown"})
	}
	return out
}

func isNamed(o container.Summary, name string) bool { return slices.Contains(o.Names, "/"+name) }

// reaper removes containers.
type reaper struct {
	client *client.Client
	names  Labels
	search Search
	ours   []container.Summary
}

// remove removes all of ours at once: one that hangs must not hold up the others.
func (r reaper) remove(ctx context.Context) (removed, stuck []Left) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removal)
	defer cancel()
	left := make([]Left, len(r.ours))
	var wg sync.WaitGroup
	for i, one := range r.ours {
		wg.Go(func() { left[i] = r.removeOne(ctx, one) })
	}
	wg.Wait()
	for _, l := range left {
		if l.Trouble == "" {
			removed = append(removed, l)
		} else {
			stuck = append(stuck, l)
		}
	}
	return removed, stuck
}

// removeOne saves the rest of a container's log and how it had ended, and removes it. The log is lost sooner than the container is kept.
func (r reaper) removeOne(ctx context.Context, one container.Summary) Left {
	l := Left{Intent: r.intentOf(one), State: one.State}
	if in, err := r.client.ContainerInspect(ctx, one.ID); err == nil && in.ContainerJSONBase != nil {
		l.State = stateOf(in.State)
		l.Saved = r.save(ctx, l, in)
	}
	if err := r.insist(ctx, one.ID); err != nil {
		l.Trouble = fmt.Sprintf("remove container %s: %v", shortID(one.ID), err)
	}
	return l
}

// insist removes a container, and tries again until ctx ends: the engine refuses while it still works on what the killed program asked, and
// does not know one yet that it lists and is still creating.
func (r reaper) insist(ctx context.Context, id string) error {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	var said error
	for {
		err := r.client.ContainerRemove(ctx, id, container.RemoveOptions{Force: true, RemoveVolumes: true})
		if err == nil || errdefs.IsNotFound(err) && !r.listed(ctx, id) {
			return nil
		}
		if said == nil || ctx.Err() == nil { // that the time is over says less than what the engine said before
			said = err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return said
		}
	}
}

// listed tells whether the engine lists a container, or does not say. It is looked for among all of the owners': an engine that is asked for
// one by id knows only those that are created whole.
func (r reaper) listed(ctx context.Context, id string) bool {
	found, err := r.listOwned(ctx)
	return err != nil || slices.ContainsFunc(found, func(o container.Summary) bool { return o.ID == id })
}

// intentOf is what the journal says of a container, else what its labels do.
func (r reaper) intentOf(one container.Summary) Intent {
	i := Intent{Run: one.Labels[r.names.Run], Role: one.Labels[r.names.Role], Runtime: "docker", Name: shortID(one.ID), Image: one.ImageID, ID: one.ID}
	if len(one.Names) > 0 {
		i.Name = one.Names[0][1:]
	}
	return i
}

// stateOf says how a container was found, with the engine's own word where it could not be started.
func stateOf(s *container.State) string {
	if s == nil {
		return "unknown"
	}
	switch {
	case s.Status == "created" && s.Error != "":
		return "created and not started: " + s.Error
	case s.Status == "created":
		return "created and not started"
	case s.OOMKilled:
		return "killed for want of memory"
	case s.Status == "exited" && s.Error != "":
		return fmt.Sprintf("exited with code %d: %s", s.ExitCode, s.Error)
	case s.Status == "exited":
		return fmt.Sprintf("exited with code %d", s.ExitCode)
	}
	return s.Status
}

// save goes on with the log of a container in the run's folder, and closes it with how the container was found. It gives the file's name.
func (r reaper) save(ctx context.Context, l Left, in container.InspectResponse) string {
	if r.search.Dir == nil || !filepath.IsLocal(l.Run) || !filepath.IsLocal(l.Role) {
		return ""
	}
	dir := r.search.Dir(l.Run)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "" // the run was deleted
	}
	f, err := lastLog(dir, l.Role, in.Created)
	if err != nil {
		return ""
	}
	defer f.Close()
	w := &logs.Capped{File: f}
	err = logs.Rest(ctx, r.client, l.ID, f, w, false)
	if err != nil {
		_, _ = fmt.Fprintf(w, "\n[the rest of the log is lost: %v]", err)
	}
	_, _ = fmt.Fprintf(w, "\n[whoever kept this log went away; the container was found later: %s]\n", l.State)
	return filepath.Base(f.Name())
}

// lastLog opens the log of the latest start of a role when it was written since a time, else a new one: a container that was created and not
// started has none yet.
func lastLog(dir, role, since string) (*os.File, error) {
	created, err := time.Parse(time.RFC3339Nano, since)
	if err != nil {
		return logs.Create(dir, role)
	}
	var last string
	var written time.Time
	for _, pattern := range []string{role + ".log", role + "-[0-9]*.log"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		for _, name := range found {
			if st, err := os.Stat(name); err == nil && !st.ModTime().Before(created) && st.ModTime().After(written) {
				last, written = name, st.ModTime()
			}
		}
	}
	if last == "" {
		return logs.Create(dir, role)
	}
	return os.OpenFile(last, os.O_RDWR|os.O_APPEND, 0)
}
