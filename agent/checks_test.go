package agent

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"assay/plan"
	"assay/probes"
)

// TestCheckRequest follows the links of the model's path, and asks for the ports that the plan names.
func TestCheckRequest(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "srv"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/mnt/fast/models", filepath.Join(root, "srv/models")); err != nil {
		t.Fatal(err)
	}
	p := plan.Plan{Model: plan.Model{Path: "/srv/models/llm"}, Checks: map[string]any{"ecc": "ignore"}}
	p.Server.Port = 8123
	r := CheckRequest(t.Context(), probes.Host{Root: root}, probes.SUT{}, p)
	if r.ModelPath != "/mnt/fast/models/llm" || len(r.Ports) != 1 || r.Ports[0] != 8123 || r.Wanted["ecc"] != "ignore" {
		t.Errorf("%+v", r)
	}
	p.Server.Replicas = 3
	if r := CheckRequest(t.Context(), probes.Host{Root: root}, probes.SUT{}, p); !slices.Equal(r.Ports, []int{8123, 8124, 8125}) {
		t.Errorf("ports of three servers: %v", r.Ports)
	}
	if r.ModelGone {
		t.Error("what a capture lacks may have been on the machine")
	}
	here := probes.Host{Root: root, Live: true}
	if r := CheckRequest(t.Context(), here, probes.SUT{}, p); !r.ModelGone || r.ModelPath == "" {
		t.Errorf("nothing is at the model's path: %+v", r)
	}
	if err := os.MkdirAll(filepath.Join(root, "mnt/fast/models/llm"), 0o755); err != nil {
		t.Fatal(err)
	}
	if r := CheckRequest(t.Context(), here, probes.SUT{}, p); r.ModelGone || r.ModelPath != "/mnt/fast/models/llm" {
		t.Errorf("the model is there: %+v", r)
	}
	here.Uname = func() (probes.Uname, error) { return probes.Uname{Nodename: "fast"}, nil }
	if r := CheckRequest(t.Context(), here, probes.SUT{}, p); r.ModelGone || r.ModelPath != "/mnt/[host]/models/llm" {
		t.Errorf("a SUT names the mount without the machine's name: %+v", r)
	}
	if r := CheckRequest(t.Context(), probes.Host{Root: root}, probes.SUT{}, plan.Plan{}); r.ModelPath != "" || len(r.Ports) != 0 {
		t.Errorf("no plan: %+v", r)
	}
}
