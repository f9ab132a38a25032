package secrets

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"assay/agent/note"
	"assay/agent/telemetry"
	"assay/redact"
	"assay/result"
	"assay/store"
)

// Sweep takes secrets out of the files of a run. Where one that the run was given is not among the known ones, what its programs wrote is
// withheld until it is. Its identity says so, and also which files hold what looks like a secret that the plan did not name: they lie in the
// archive as they are, and whoever passes it on should know.
func Sweep(ctx context.Context, st *store.Store, run string, known []redact.Secret) error {
	dir := st.RunDir(run)
	if err := redact.New(known...).Folder(dir); err != nil {
		return err
	}
	w := store.Withheld{Run: run}
	var err error
	if w.Names, err = Missing(ctx, st, run, known); err != nil {
		return err
	}
	if len(w.Names) > 0 {
		if w.Files, err = ofPrograms(dir); err != nil {
			return err
		}
	}
	if err := st.Withhold(ctx, w); err != nil {
		return err
	}
	found, err := InFiles(dir, append(w.Files, telemetry.FileName)...)
	if err != nil {
		return err
	}
	if len(w.Files) > 0 {
		found = append(found, withheldNote(w))
	}
	return remark(ctx, st, run, found)
}

// ofPrograms lists what lies in a run's folder beside what this program writes, which holds no secret from its first byte on.
func ofPrograms(dir string) ([]string, error) {
	own := append([]string{"plan.yaml", result.EventsName, telemetry.FileName}, result.Derived()...)
	var files []string
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		at, err := filepath.Rel(dir, name)
		if recording, _ := filepath.Match("recordings/*.zst", at); !e.Type().IsRegular() || !recording && !slices.Contains(own, at) {
			files = append(files, filepath.ToSlash(at))
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // the run never began
	}
	return files, err
}

// Release writes the results of runs once more of which something is withheld because values were not at hand that now are; known gives
// those of a run.
func Release(ctx context.Context, st *store.Store, known func(context.Context, string) ([]redact.Secret, error), reissue func(context.Context, store.Run) error) error {
	all, err := st.AllWithheld(ctx)
	if err != nil {
		return err
	}
	for _, w := range all {
		run, err := st.Run(ctx, w.Run)
		if err != nil {
			return err
		}
		values, err := known(ctx, w.Run)
		if err != nil {
			return err
		}
		missing, err := Missing(ctx, st, w.Run, values)
		if err == nil && len(missing) == 0 {
			err = reissue(ctx, run)
		}
		if err != nil {
			return fmt.Errorf("sweep run %s: %w", w.Run, err)
		}
	}
	return nil
}

// beginsWithheld is how the note of what is withheld begins: the next sweep replaces it.
const beginsWithheld = "withheld: "

func withheldNote(w store.Withheld) string {
	return fmt.Sprintf("%s%s may hold the value of %s, which was not at hand when the run's files were swept; start assay once with the value and they are swept and shown",
		beginsWithheld, strings.Join(w.Files, ", "), strings.Join(w.Names, ", "))
}

// remark writes what a sweep found into the notes of a run; what an earlier one withheld is told anew.
func remark(ctx context.Context, st *store.Store, run string, found []string) error {
	return note.Write(ctx, st, run, found, func(text string) bool { return strings.HasPrefix(text, beginsWithheld) })
}
