package planfiles

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/fault"
	"assay/plan"
)

func planWith(model, dataset string, command ...string) plan.Plan {
	var p plan.Plan
	p.Model.Path, p.Workload.Dataset.Path, p.Server.Command = model, dataset, command
	return p
}

func TestAbsolute(t *testing.T) {
	cases := []struct {
		name, base string
		in, want   plan.Plan
		code       string
	}{
		{"relative names begin at the folder", "/plans", planWith("m.gguf", "../d.jsonl", "./serve", "./arg"), planWith("/plans/m.gguf", "/d.jsonl", "/plans/serve", "./arg"), ""},
		{"whole names stay", "/plans", planWith("/m", "/d", "/bin/serve"), planWith("/m", "/d", "/bin/serve"), ""},
		{"a program of PATH stays", "/plans", planWith("", "", "serve"), planWith("", "", "serve"), ""},
		{"no folder, whole names", "", planWith("/m", "", "serve"), planWith("/m", "", "serve"), ""},
		{"no folder, a model", "", planWith("m", ""), plan.Plan{}, "plan.relative_path"},
		{"no folder, a dataset", "", planWith("", "d"), plan.Plan{}, "plan.relative_path"},
		{"no folder, a program", "", planWith("", "", "bin/serve"), plan.Plan{}, "plan.relative_path"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			before := c.in.Hash()
			got, err := Absolute(c.in, c.base)
			if c.in.Hash() != before {
				t.Error("the plan itself was changed")
			}
			if c.code != "" {
				if f := fault.Of(err, fault.Client); f == nil || f.Code != c.code || f.Hint == "" {
					t.Errorf("%v, want %s", err, c.code)
				}
				return
			}
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

func TestDatasetSHA256(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"d.jsonl", "a.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("abc"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const (
		abc    = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
		folder = "0a15a7183e51f53aebd44146e21684968f7098e7cd354fcccec444b9867843f0" // of the line of a.txt
	)
	for name, want := range map[string]string{"d.jsonl": abc, "": "", ".": folder} {
		if got, err := DatasetSHA256(t.Context(), planWith("", name), dir); got != want || err != nil {
			t.Errorf("%q: %s, %v", name, got, err)
		}
	}
	_, err := DatasetSHA256(t.Context(), planWith("", "absent"), dir)
	if f := fault.Of(err, fault.Client); f == nil || f.Code != "plan.dataset_missing" {
		t.Errorf("absent: %v", err)
	}
}

// A token's file is found beside its plan.
func TestTokenFileBesideThePlan(t *testing.T) {
	p := plan.Plan{Server: plan.Server{TokenFile: "token"}}
	if p, err := Absolute(p, "/plans"); err != nil || p.Server.TokenFile != "/plans/token" {
		t.Errorf("%s, %v", p.Server.TokenFile, err)
	}
}
