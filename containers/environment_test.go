package containers

import (
	"testing"

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
			s, _, err := oneSpec(p, opt)
			if err != nil {
				t.Fatal(err)
			}
			if _, more := s.Env["B"]; more || s.Env["HF_TOKEN"] != "hf_x" || s.Env["A"] != "1" {
				t.Errorf("environment %v", s.Env)
			}
			p.Server.EnvFrom = []string{"NOT_SET"}
			_, _, err = oneSpec(p, opt)
			enginetest.WantFault(t, err, "preflight.variable_missing")
			_, _, err = oneSpec(p, specOptions)
			enginetest.WantFault(t, err, "preflight.variable_missing")
		})
	}
}
