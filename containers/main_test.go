package containers

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"assay/containers/engine"
	"assay/containers/enginetest"
)

// TestMain lets the test binary play the server that a test starts: childMode names the part.
func TestMain(m *testing.M) {
	if mode := os.Getenv(childMode); mode != "" {
		os.Exit(playChild(mode, os.Args[1:]))
	}
	os.Exit(m.Run())
}

const childMode = "ASSAY_TEST_CHILD"

// playChild is a small server with a way to misbehave.
func playChild(mode string, args []string) int {
	switch mode {
	case "exit-early":
		fmt.Println("server: error: unrecognized arguments: --nope")
		return 3
	case "silent-exit":
		return 0
	case "ignore-term":
		signal.Ignore(syscall.SIGTERM)
	case "grandchild":
		cmd := exec.Command("/bin/sleep", "600")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Start(); err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println("grandchild", cmd.Process.Pid)
	}
	if litter, ok := engine.FlagValue(args, []string{"--litter"}); ok {
		hold, err := leaveLitter(litter)
		if err != nil {
			fmt.Println(err)
			return 1
		}
		defer hold.Close()
	}
	port, _ := engine.FlagValue(args, []string{"--port"})
	fmt.Println("listening on", port)
	fmt.Println(http.ListenAndServe("127.0.0.1:"+port, enginetest.Handler("test-model")))
	return 1
}

// leaveLitter makes a file, and starts a helper that takes no signal and removes the file a while after this process has ended.
func leaveLitter(path string) (hold *os.File, err error) {
	in, hold, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("/bin/sh", "-c", `trap "" TERM; echo helper ready; cat; sleep 0.3; rm "$0"`, path)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, os.Stdout, os.Stderr
	return hold, errors.Join(os.WriteFile(path, nil, 0o600), cmd.Start())
}

// childSpec starts this test binary in a mode.
func childSpec(t *testing.T, mode string) Spec {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	port, err := FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return Spec{Owner: ownerOf(t), Run: "run1", Role: "server", Runtime: "process", Argv: []string{exe, "--port", fmt.Sprint(port)},
		Env: map[string]string{childMode: mode}, Port: port, HostPort: port, Dir: t.TempDir(), StopGrace: 300 * time.Millisecond}
}

// ownerOf is a mark of this test and process alone.
func ownerOf(t *testing.T) string {
	return fmt.Sprintf("test-%d-%s", os.Getpid(), strings.ReplaceAll(t.Name(), "/", "-"))
}

// startSpec starts and makes sure that it ends with the test.
func startSpec(t *testing.T, r Runtime, s Spec) Instance {
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

// servedBy is a test server as an instance of runtime endpoint.
func servedBy(t *testing.T, h http.Handler) Instance {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return distant{s.URL}
}
