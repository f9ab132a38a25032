package nvidia

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"assay/probes/host"
)

// daemonRoot, in the environment, makes TestDaemon the daemon of TestDaemonDies.
const daemonRoot = "ASSAY_TEST_ROOT"

// TestDaemon samples the host of another test until it is killed.
func TestDaemon(t *testing.T) {
	root := os.Getenv(daemonRoot)
	if root == "" {
		t.Skip("only for TestDaemonDies")
	}
	h := host.Live()
	h.Root = root
	s, _ := NewSampler(h)
	if _, err := s.Sample(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-s.feed.ended
}

// TestDaemonDies: a daemon that is killed leaves no program behind, not even one that never writes to the pipe that broke.
func TestDaemonDies(t *testing.T) {
	_, dir := fakeHost(t, help, "exec sleep 1000 3>$HERE/held\n")
	held := filepath.Join(dir, "held")
	if err := syscall.Mkfifo(held, 0o600); err != nil {
		t.Fatal(err)
	}
	daemon := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestDaemon$")
	daemon.Env = append(os.Environ(), daemonRoot+"="+dir)
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	program, err := os.Open(held) // waits for the program
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	if err := daemon.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = daemon.Wait()                                       // killed
	if _, err := io.Copy(io.Discard, program); err != nil { // ends when nobody holds it
		t.Fatal(err)
	}
}

// TestFirstLine: a reason has room for a line of bounded length.
func TestFirstLine(t *testing.T) {
	for said, want := range map[string]string{"": "", "\n a\nb": "a", strings.Repeat("é", 1<<20): strings.Repeat("é", 100), "x" + strings.Repeat("é", 200): "x" + strings.Repeat("é", 99)} {
		if got := firstLine(said); got != want {
			t.Errorf("%.20q: %q", said, got)
		}
	}
	long := strings.Repeat("Unknown Error ", 1<<16)
	if a := deviceOf(t, "<product_name>"+long+"</product_name>"); a.Name.IsKnown() || len(a.Name.Unknown) > 300 {
		t.Errorf("a reason of %d bytes", len(a.Name.Unknown))
	}
}
