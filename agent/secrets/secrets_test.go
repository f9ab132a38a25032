package secrets

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/plan"
	"assay/redact"
)

func TestOf(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("from-a-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := plan.Plan{Server: plan.Server{TokenEnv: "TOKEN", TokenFile: file, EnvFrom: []string{"HF_TOKEN", "UNSET"}},
		Client: plan.Client{HeadersEnv: map[string]string{"X-Key": "HEADER", "X-Other": "HEADER"}, EnvFrom: []string{"HF_TOKEN"}}}
	env := map[string]string{"TOKEN": "t", "HF_TOKEN": " hf ", "HEADER": "h", "OTHER": "o"}
	want := []redact.Secret{{Name: "HEADER", Value: "h"}, {Name: "HF_TOKEN", Value: "hf"}, {Name: "TOKEN", Value: "t"}, {Name: "token_file", Value: "from-a-file"}}
	if diff := cmp.Diff(want, Of(p, func(n string) string { return env[n] })); diff != "" {
		t.Error(diff)
	}
}

func TestInPlan(t *testing.T) {
	const value = "/opt/words/of-length"
	for name, c := range map[string]struct {
		server plan.Server
		want   string
	}{
		"not there":                {plan.Server{TokenEnv: "TOKEN"}, ""},
		"in an argument":           {plan.Server{TokenEnv: "TOKEN", Args: []string{"--api-key", value}}, "TOKEN"},
		"of a secret's name":       {plan.Server{EnvFrom: []string{"HF_TOKEN"}, Args: []string{"--x=" + value}}, "HF_TOKEN"},
		"a path that is no secret": {plan.Server{EnvFrom: []string{"CACHE_DIR"}, Args: []string{value}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := InPlan(plan.Plan{Server: c.server}, func(string) string { return value }); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestInFiles(t *testing.T) {
	dir := t.TempDir()
	token := "hf_" + strings.Repeat("a1", 17)
	for name, text := range map[string]string{"server.log": "using " + token, "plan.yaml": "model: x", "skipped.jsonl": token, "recordings/p.zst": token} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := InFiles(dir, "skipped.jsonl")
	want := []string{"server.log holds what looks like a Hugging Face token: it lies in the run's folder and in its archive"}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if got, err := InFiles(filepath.Join(dir, "none"), ""); got != nil || err != nil {
		t.Error(got, err)
	}
}
