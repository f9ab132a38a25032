package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"

	"assay/containers"
	"assay/store"
)

// kind begins the kinds of documents that hold an intent; the name of what is started follows.
const kind = "intent:"

// Journal is the intents of one data directory.
type Journal struct {
	Store  *store.Store
	Owner  string
	Docker containers.DockerPlace
	Log    *slog.Logger
}

// Intend writes down what is about to be made.
func (j Journal) Intend(ctx context.Context, i containers.Intent) error {
	b, err := json.Marshal(i)
	if err != nil {
		return fmt.Errorf("encode what is to be started: %w", err)
	}
	return j.Store.PutDocument(ctx, i.Run, kind+i.Name, b)
}

// Made adds what is known only when it was made. Without it the name is enough to find it again.
func (j Journal) Made(ctx context.Context, i containers.Intent) {
	if err := j.Intend(ctx, i); err != nil {
		j.Log.Warn("could not write down what was started", "name", i.Name, "error", err)
	}
}

// Gone strikes an intent out. One that stays is struck out by the next Settle, which finds nothing.
func (j Journal) Gone(ctx context.Context, i containers.Intent) {
	if err := j.Store.DropDocument(ctx, i.Run, kind+i.Name); err != nil {
		j.Log.Warn("could not write down what was removed", "name", i.Name, "error", err)
	}
}

// Open reads the intents that were not struck out: what runs now, or what a killed program may have left.
func Open(ctx context.Context, st *store.Store) ([]containers.Intent, error) {
	bodies, err := st.DocumentsOf(ctx, kind)
	if err != nil {
		return nil, err
	}
	var out []containers.Intent
	for _, b := range bodies {
		var i containers.Intent
		if err := json.Unmarshal(b, &i); err != nil {
			return nil, fmt.Errorf("read what was started: %w", err)
		}
		out = append(out, i)
	}
	return out, nil
}

// Settle removes what a killed program left, in some runtimes or, without any, in all, and tells what it found. Nothing of this data
// directory may run meanwhile. What cannot be removed stays in the journal with the reason, and so does what cannot be looked for: only the
// store makes it an error.
func (j Journal) Settle(ctx context.Context, runtimes ...string) (containers.Found, error) {
	open, err := Open(ctx, j.Store)
	if err != nil {
		return containers.Found{}, err
	}
	found := containers.Reap(ctx, containers.Search{Owner: j.Owner, Expected: open, Dir: j.Store.RunDir, Runtimes: runtimes}, j.Docker)
	j.tell(open, found)
	for _, l := range found.Removed {
		j.Gone(ctx, l.Intent)
	}
	for _, i := range found.Absent {
		j.Gone(ctx, i)
	}
	for _, l := range found.Stuck {
		j.Made(ctx, l.Intent)
	}
	return found, nil
}

// tell logs what is new.
func (j Journal) tell(open []containers.Intent, found containers.Found) {
	for _, l := range found.Removed {
		j.Log.Warn("removed what an earlier program left", "name", l.String(), "found", l.State)
	}
	for _, l := range found.Stuck {
		told := slices.ContainsFunc(open, func(i containers.Intent) bool { return i.Name == l.Name && i.Trouble == l.Trouble })
		if !told {
			j.Log.Error("could not remove what an earlier program left; it is tried again", "name", l.String(), "error", l.Trouble)
		}
	}
	if found.Failed != nil && len(found.Stuck) == 0 {
		j.Log.Warn("could not look for what an earlier program left; it is tried again", "error", found.Failed)
	}
	for _, name := range found.Foreign {
		j.Log.Debug("left alone", "name", name)
	}
}
