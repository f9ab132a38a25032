package process_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"assay/containers/enginetest"
	"assay/containers/image"
	"assay/containers/instance"
	"assay/containers/instancetest"
	"assay/containers/process"
)

// TestProcessLaunch: CPUs of a program, and what the kernel says of it.
func TestProcessLaunch(t *testing.T) {
	s := instancetest.Child(t, "serve")
	s.CPUs, s.Env["LICENCE"], s.Secrets = "0", "open sesame", []string{"LICENCE"}
	if _, err := os.Stat("/proc/self/numa_maps"); err == nil {
		s.NUMA = "0"
	}
	s, _ = instancetest.Prepare(t, process.Runtime{}, s)
	r := instancetest.Start(t, process.Runtime{}, s).Identity().Launch
	if r.Made.MemoryNodes != s.NUMA {
		t.Errorf("memory nodes %q of %q", r.Made.MemoryNodes, s.NUMA)
	}
	if r.Made.CPUs != "0" || r.Made.Env[instancetest.ChildMode] != "serve" || r.Made.Dir == "" || r.Made.User == "" || r.Made.Ulimits["nofile"] == "" || len(r.Made.Inherited) == 0 {
		t.Errorf("%+v", r.Made)
	}
	if len(r.Differs) > 0 || strings.Contains(fmt.Sprintf("%+v", r), "sesame") {
		t.Errorf("%+v", r)
	}
	for code, change := range map[string]func(*instance.Spec){
		"preflight.cpus_unavailable": func(s *instance.Spec) { s.CPUs = "5000" },
		"preflight.numa_unavailable": func(s *instance.Spec) { s.NUMA = "900" },
		"preflight.no_gpu":           func(s *instance.Spec) { s.GPUs = "77" },
		"plan.gpus_twice":            func(s *instance.Spec) { s.GPUs, s.Env = "none", map[string]string{"HIP_VISIBLE_DEVICES": "0"} },
	} {
		s := instancetest.Child(t, "serve")
		change(&s)
		_, err := process.Runtime{}.Prepare(t.Context(), s, func(image.Progress) {})
		enginetest.WantFault(t, err, code)
		_, err = process.Runtime{}.Start(t.Context(), s)
		enginetest.WantFault(t, err, code)
		if entries, _ := os.ReadDir(s.Dir); len(entries) > 0 {
			t.Errorf("%s: %v was written", code, entries)
		}
	}
}
