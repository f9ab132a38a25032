// Package instancetest starts what tests of runtimes start, and waits for what no channel tells of. Only tests import it.
package instancetest

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"assay/containers/engine"
	"assay/containers/image"
	"assay/containers/instance"
)

// Owner is a mark of this test and process alone.
func Owner(t testing.TB) string {
	return fmt.Sprintf("test-%d-%s", os.Getpid(), strings.ReplaceAll(t.Name(), "/", "-"))
}

// Prepare gives the spec to start, and the progress that was told.
func Prepare(t testing.TB, r instance.Runtime, s instance.Spec) (instance.Spec, []image.Progress) {
	t.Helper()
	var seen []image.Progress
	s, err := r.Prepare(t.Context(), s, func(p image.Progress) { seen = append(seen, p) })
	if err != nil {
		t.Fatal(err)
	}
	return s, seen
}

// Start starts and makes sure that it ends with the test.
func Start(t testing.TB, r instance.Runtime, s instance.Spec) instance.Instance {
	t.Helper()
	inst, err := r.Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := inst.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
	return inst
}

// AwaitLog blocks until the log holds a text.
func AwaitLog(t testing.TB, inst instance.Instance, text string) string {
	t.Helper()
	var b []byte
	Await(t, "log with "+text, func() bool {
		b, _ = os.ReadFile(inst.LogPath())
		return strings.Contains(string(b), text)
	})
	return string(b)
}

// Await polls a condition of another process, which no channel tells of.
func Await(t testing.TB, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(5 * time.Minute); !done(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("no %s", what)
		}
	}
}

// Alive tells whether a process lives.
func Alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// Preset is a kind of server by its name.
func Preset(t testing.TB, name string) engine.Preset {
	t.Helper()
	p, err := engine.PresetNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
