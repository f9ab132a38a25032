package proof

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/containers"
	"assay/containers/engine"
	"assay/fault"
	"assay/plan"
)

const (
	commit  = "1bae0e1088993b9b82de08f59de5be5a34e42170"
	another = "2bae0e1088993b9b82de08f59de5be5a34e42170"
)

// folder makes a model's folder with its config.json.
func folder(t *testing.T, under ...string) string {
	t.Helper()
	dir := filepath.Join(append([]string{t.TempDir()}, under...)...)
	put(t, filepath.Join(dir, "config.json"), "{}\n")
	return dir
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func planOf(path, revision string) plan.Plan {
	return plan.Plan{Model: plan.Model{Name: "m", Served: "m", Path: path, Revision: revision}}
}

// TestRevisionIsProved: the plan's word alone is no proof of what a folder holds.
func TestRevisionIsProved(t *testing.T) {
	cached, loose, downloaded := folder(t, "models--org--m", "snapshots", commit), folder(t), folder(t)
	put(t, filepath.Join(downloaded, ".cache/huggingface/download/config.json.metadata"), commit+"\netag\n1700000000.0\n")
	linked := filepath.Join(t.TempDir(), "m")
	if err := os.Symlink(cached, linked); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, path, asked, want, code string }{
		{"of the hub's cache", cached, commit, commit, ""},
		{"of the hub's cache, by a link", linked, commit, commit, ""},
		{"of the hub's cache, its short form", cached, commit[:7], commit, ""},
		{"of the hub's cache, not asked for", cached, "", commit, ""},
		{"a download", downloaded, commit, commit, ""},
		{"a folder that says nothing", loose, commit, "", ""},
		{"another one of the cache", cached, another, "", "preflight.model_differs"},
		{"another download", downloaded, another, "", "preflight.model_differs"},
		{"no path", "", commit, "", ""},
		{"on another machine", "/no/such/folder", commit, "", ""},
	} {
		m, err := Model(planOf(c.path, c.asked))
		if c.code != "" {
			if f := fault.Of(err, fault.Preflight); f == nil || f.Code != c.code || f.Hint == "" {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil || m.Revision != c.want {
			t.Errorf("%s: %q, %v", c.name, m.Revision, err)
		}
	}
}

func TestConfirm(t *testing.T) {
	said := func(value, source string) containers.Identity {
		return containers.Identity{Settings: []engine.Setting{{Name: engine.Revision, Value: value, Source: source}}}
	}
	for _, c := range []struct {
		name, path string
		server     containers.Identity
		want, note string
	}{
		{"by the server's log", "", said(commit, "log"), commit, ""},
		{"by the arguments it was started with", "", said(commit, "argv"), commit, ""},
		{"not told", "", containers.Identity{}, "", "the server does not say"},
		{"another one", "", said(another, "log"), "", "is not proved"},
		{"a folder is loaded, whatever the arguments say", "/m", said(commit, "argv"), "", "/m does not say"},
	} {
		m, err := Model(planOf(c.path, commit))
		if err != nil {
			t.Fatal(err)
		}
		note := Confirm(&m, planOf(c.path, commit), c.server)
		if m.Revision != c.want || c.note == "" && note != "" || !strings.Contains(note, c.note) {
			t.Errorf("%s: %q, %q", c.name, m.Revision, note)
		}
	}
	if m, _ := Model(planOf("", "")); Confirm(&m, planOf("", ""), said(commit, "log")) != "" || m.Revision != "" {
		t.Error("a plan that names no revision has nothing to be proved")
	}
}

func TestHashes(t *testing.T) {
	dir := folder(t)
	const sum = "ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356" // of "{}\n"
	m, err := Model(planOf(dir, ""))
	if err != nil || m.ConfigSHA256 != sum || m.SHA256 != "" {
		t.Errorf("%+v, %v", m, err)
	}
	m, err = Model(planOf(filepath.Join(dir, "config.json"), ""))
	if err != nil || m.SHA256 != sum || m.ConfigSHA256 != "" {
		t.Errorf("%+v, %v", m, err)
	}
}
