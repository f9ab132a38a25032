package containers

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/containers/enginetest"
)

// TestEnvironmentFrom: the values that a plan names reach the server of either runtime; one that is not set is asked for.
func TestEnvironmentFrom(t *testing.T) {
	for _, runtime := range []string{"process", "docker"} {
		t.Run(runtime, func(t *testing.T) {
			p := testPlan("vllm", runtime)
			p.Server.EnvFrom, p.Server.Env = []string{"HF_TOKEN"}, map[string]string{"A": "1"}
			opt := specOptions
			opt.Getenv = func(name string) string { return map[string]string{"HF_TOKEN": "hf_x", "B": "2"}[name] }
			s, _, err := ServerSpec(p, opt)
			if err != nil {
				t.Fatal(err)
			}
			if _, more := s.Env["B"]; more || s.Env["HF_TOKEN"] != "hf_x" || s.Env["A"] != "1" {
				t.Errorf("environment %v", s.Env)
			}
			p.Server.EnvFrom = []string{"NOT_SET"}
			_, _, err = ServerSpec(p, opt)
			enginetest.WantFault(t, err, "preflight.variable_missing")
			_, _, err = ServerSpec(p, specOptions)
			enginetest.WantFault(t, err, "preflight.variable_missing")
		})
	}
}

func TestHandedDown(t *testing.T) {
	got := handedDown([]string{"PATH=/bin", "HF_TOKEN=x", "CUDA_VISIBLE_DEVICES=0", "LC_ALL=C", "EDITOR=vi", "NVIDIA_API_KEY=x", "PATHS=x", "NCCL_DEBUG=a=b"})
	if d := cmp.Diff([]string{"PATH=/bin", "CUDA_VISIBLE_DEVICES=0", "LC_ALL=C", "NCCL_DEBUG=a=b"}, got); d != "" {
		t.Error(d)
	}
}

// TestProcessInheritsOnlyWhatIsKnown looks into a started program.
func TestProcessInheritsOnlyWhatIsKnown(t *testing.T) {
	t.Setenv("AWS_SECRET_ACCESS_KEY", "do not tell")
	t.Setenv("ANYTHING", "else")
	s := childSpec(t, "serve")
	s.Argv, s.Env = []string{"/bin/sh", "-c", "env; exec sleep 600"}, map[string]string{"HF_TOKEN": "named"}
	inst := startSpec(t, process{}, s)
	log := awaitLog(t, inst, "ASSAY_OWNER="+s.Owner)
	await(t, "whole environment", func() bool {
		b, err := os.ReadFile(inst.LogPath())
		log = string(b)
		return err == nil && containsLine(log, "HF_TOKEN=named") && containsLine(log, "PATH="+os.Getenv("PATH"))
	})
	if containsLine(log, "ANYTHING=else") || containsLine(log, "AWS_SECRET_ACCESS_KEY=do not tell") {
		t.Errorf("the program was given:\n%s", log)
	}
}

func containsLine(text, line string) bool { return slices.Contains(strings.Split(text, "\n"), line) }
