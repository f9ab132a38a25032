package instancetest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"assay/containers/engine"
	"assay/containers/enginetest"
	"assay/containers/instance"
	"assay/containers/port"
)

// Main lets a test binary play the server that a test starts: ChildMode names the part, one of own or of those that all have.
func Main(m *testing.M, own map[string]func() int) {
	mode := os.Getenv(ChildMode)
	switch play, ok := own[mode]; {
	case ok:
		os.Exit(play())
	case mode != "":
		os.Exit(playChild(mode, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// ChildMode is the variable by which a test binary is told to play a server.
const ChildMode = "ASSAY_TEST_CHILD"

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
	case "tidy":
		return tidyUp(args[0])
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
	cmd := exec.Command(os.Args[0], path)
	cmd.Env = append(os.Environ(), ChildMode+"=tidy")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, os.Stdout, os.Stderr
	return hold, errors.Join(os.WriteFile(path, nil, 0o600), cmd.Start())
}

// tidyUp is the helper. It starts no program once its parent has ended: on a busy machine that takes longer than a helper is given.
func tidyUp(path string) int {
	signal.Ignore(syscall.SIGTERM)
	fmt.Println("helper ready")
	_, _ = io.Copy(io.Discard, os.Stdin) // until its parent ends
	<-time.After(300 * time.Millisecond)
	if err := os.Remove(path); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// Child is a spec that starts this test binary in a mode: serve, or one that misbehaves. Only the one that ignores SIGTERM has a short grace:
// a busy machine may take seconds to end one that does not.
func Child(t testing.TB, mode string) instance.Spec {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ports, err := port.Free(1)
	if err != nil {
		t.Fatal(err)
	}
	grace := time.Minute
	if mode == "ignore-term" {
		grace = 300 * time.Millisecond
	}
	return instance.Spec{Owner: Owner(t), Run: "run1", Role: "server", Runtime: "process", Argv: []string{exe, "--port", fmt.Sprint(ports[0])},
		Env: map[string]string{ChildMode: mode}, Port: ports[0], HostPort: ports[0], Dir: t.TempDir(), StopGrace: grace}
}
