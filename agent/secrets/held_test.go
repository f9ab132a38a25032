package secrets

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/redact"
	"assay/result"
	"assay/store"
)

// runIn is a store with one run that has ended, whose folder holds files.
func runIn(t *testing.T, files map[string]string) (*store.Store, store.Run) {
	t.Helper()
	st, err := store.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	run := store.Run{ID: "20260101T000000-aaaaaa", Name: "r", State: result.Queued, Plan: []byte(`{}`), PlanSHA256: strings.Repeat("0", 64), Source: "cli", CreatedUS: 1, Points: 1}
	if err := st.CreateRun(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(st.RunDir(run.ID), name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return st, run
}

// TestSweepWithheld: without the value of what it was given, nothing that a program of a run could have written is listed; with it everything is.
func TestSweepWithheld(t *testing.T) {
	token := redact.Secret{Name: "TOKEN", Value: "the-token-0123"}
	st, run := runIn(t, map[string]string{"server.log": "say the-token-0123", "client/out.json": "{}", "recordings/c1.zst": "x", "recordings/c1.log": "x",
		"plan.yaml": "x", "events.jsonl": "x", "telemetry.jsonl": "x", "result.json": "x"})
	if err := os.Symlink("server.log", filepath.Join(st.RunDir(run.ID), "recordings", "link.zst")); err != nil {
		t.Fatal(err)
	}
	if err := Hold(t.Context(), st, Given{run.ID, []redact.Secret{token, {Name: "SHORT", Value: "1234567"}}}); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		known   []redact.Secret
		names   []string
		files   []string
		listed  []string
		logHas  string
		reissue int
	}{
		{nil, []string{"TOKEN"}, []string{"client/out.json", "recordings/c1.log", "recordings/link.zst", "server.log"}, []string{"plan.yaml", "recordings/c1.zst", "telemetry.jsonl"}, "the-token-0123", 0},
		{[]redact.Secret{token}, nil, nil, []string{"client/out.json", "plan.yaml", "recordings/c1.log", "recordings/c1.zst", "server.log", "telemetry.jsonl"}, "[secret TOKEN]", 1},
	} {
		reissued := 0
		known := func(context.Context, string) ([]redact.Secret, error) { return c.known, nil }
		err := Release(t.Context(), st, known, func(context.Context, store.Run) error { reissued++; return nil })
		if err != nil || reissued != c.reissue {
			t.Errorf("%d: released %d, %v", i, reissued, err)
		}
		if err := Sweep(t.Context(), st, run.ID, c.known); err != nil {
			t.Fatal(err)
		}
		if err := Release(t.Context(), st, known, func(context.Context, store.Run) error { t.Errorf("%d: released without its secret", i); return nil }); err != nil {
			t.Fatal(err)
		}
		w, err := st.Withheld(t.Context(), run.ID)
		if diff := cmp.Diff(store.Withheld{Run: run.ID, Names: c.names, Files: c.files}, w); err != nil || diff != "" {
			t.Errorf("%d: %v %s", i, err, diff)
		}
		all, err := st.IndexFiles(t.Context(), run.ID)
		var listed []string
		for _, a := range all {
			listed = append(listed, a.Path)
		}
		if diff := cmp.Diff(c.listed, listed); err != nil || diff != "" {
			t.Errorf("%d: %v %s", i, err, diff)
		}
		if b, err := os.ReadFile(filepath.Join(st.RunDir(run.ID), "server.log")); err != nil || !strings.Contains(string(b), c.logHas) {
			t.Errorf("%d: %s %v", i, b, err)
		}
		identity, err := st.Document(t.Context(), run.ID, store.Identity)
		if err != nil || strings.Contains(string(identity), "withheld: ") != (c.names != nil) {
			t.Errorf("%d: %s %v", i, identity, err)
		}
	}
}

// TestHeld: another value under the name is told from the one that was given, and what is kept fits very many values.
func TestHeld(t *testing.T) {
	st, run := runIn(t, nil)
	give := func(values ...string) (all []redact.Secret) {
		for _, v := range values {
			all = append(all, redact.Secret{Name: "TOKEN", Value: v})
		}
		return all
	}
	missing := func(known ...redact.Secret) []string {
		t.Helper()
		names, err := Missing(t.Context(), st, run.ID, known)
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	if names := missing(); names != nil {
		t.Errorf("given nothing, it misses %q", names)
	}
	for _, value := range []string{"the-first-value", "the-second-value", "the-first-value"} { // it was changed, and the run resumed
		if err := Hold(t.Context(), st, Given{run.ID, give(value)}); err != nil {
			t.Fatal(err)
		}
	}
	if names := missing(give("the-first-value", "the-second-value")...); names != nil {
		t.Errorf("with both it misses %q", names)
	}
	told, fitting := 0, 0
	for i := range 4096 {
		other := give(fmt.Sprintf("another-value-%d", i))
		if missing(other...) != nil {
			told++
		}
		if hold(give("the-first-value")[0]).is(other[0]) {
			fitting++
		}
	}
	if told < 4000 || fitting == 0 {
		t.Errorf("of 4096 other values %d are told, %d fit what is kept", told, fitting)
	}
	all, err := heldBy(t.Context(), st, run.ID)
	if err != nil || len(all) < 1 || len(all) > 2 || len(all[0].Salt) != 16 {
		t.Errorf("%+v %v", all, err)
	}
}
