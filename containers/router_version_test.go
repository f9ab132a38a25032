package containers

import (
	"os/exec"
	"strings"
	"testing"

	"assay/containers/imagetest"
	"assay/containers/instancetest"
	"assay/containers/process"
	"assay/plan"
)

// TestRouterVersion: a router that runs, as a program or in a container, has the version that its program says.
func TestRouterVersion(t *testing.T) {
	for _, k := range withConfig() {
		t.Run(k.Name, func(t *testing.T) {
			needProgram(t, k.Name)
			t.Run("process", func(t *testing.T) {
				s, err := RouterSpec(plan.Router{Kind: k.Name}, []string{"http://127.0.0.1:9"}, optionsOf(t))
				if err != nil {
					t.Fatal(err)
				}
				wantVersion(t, instancetest.Start(t, process.Runtime{}, s), k)
			})
			t.Run("docker", func(t *testing.T) {
				imagetest.NeedDocker(t)
				s, err := RouterSpec(plan.Router{Kind: k.Name, Image: imagetest.ProgramImage(t, k.Name)}, []string{"http://127.0.0.1:9"}, optionsOf(t))
				if err != nil {
					t.Fatal(err)
				}
				s, _ = instancetest.Prepare(t, here(), s)
				wantVersion(t, instancetest.Start(t, here(), s), k)
			})
		})
	}
}

// wantVersion holds what is read of a router that runs against what its program prints.
func wantVersion(t *testing.T, r Instance, k RouterKind) {
	t.Helper()
	printed, err := exec.Command(k.Name, "-v").CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	version, unknown := routerVersion(t.Context(), r, k)
	if version == "" || unknown != "" || strings.Trim(version, "0123456789.") == version || !strings.Contains(string(printed), version) {
		t.Errorf("version %q, unknown %q of a program that says %s", version, unknown, printed)
	}
}
