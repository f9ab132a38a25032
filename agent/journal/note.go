package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"assay/agent/note"
	"assay/containers"
	"assay/plan"
	"assay/result"
	"assay/store"
)

// Note writes into the runs what was left of them and how it was found, and gives these runs.
func (j Journal) Note(ctx context.Context, left []containers.Left) (runs []store.Run, err error) {
	notes := map[string][]string{}
	for _, l := range left {
		text := fmt.Sprintf("%s; %s was left, found %s, and removed", j.why(ctx, l), l, l.State)
		if l.Saved != "" {
			text += "; the rest of its log is in " + l.Saved
		}
		notes[l.Run] = append(notes[l.Run], text)
	}
	for id, texts := range notes {
		run, err := j.Store.Run(ctx, id)
		if errors.Is(err, store.ErrNotFound) {
			j.Log.Warn("what was left belongs to no run that is known", "run", id)
			continue
		}
		if err == nil {
			err = note.Write(ctx, j.Store, id, texts, nil)
		}
		if err != nil {
			return runs, err
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// why says what kept a run from removing something itself.
func (j Journal) why(ctx context.Context, l containers.Left) string {
	var stops []result.Stop
	b, err := j.Store.Document(ctx, l.Run, store.Stops)
	if err == nil {
		err = json.Unmarshal(b, &stops)
	}
	i := slices.IndexFunc(stops, func(s result.Stop) bool { return s.Name == l.Name && s.Error != nil })
	if err != nil || i < 0 {
		return "the program was killed"
	}
	return "it could not be stopped when its run ended (" + stops[i].Error.Code + ")"
}

// Runtimes are those in which a plan starts something.
func Runtimes(p plan.Plan) []string {
	runtimes := []string{p.Server.Runtime, p.Client.Runtime}
	for _, r := range p.Routers {
		runtimes = append(runtimes, r.Runtime)
	}
	return runtimes
}
