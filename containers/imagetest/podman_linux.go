package imagetest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// withoutLimits makes a runtime for podman that raises no limits: podman as root always does, which a machine may not allow.
func withoutLimits(t testing.TB, dir string) (program string) {
	t.Helper()
	runc, err := exec.LookPath("runc")
	if err != nil {
		Missing(t, "runc (%v)", err)
	}
	program = filepath.Join(dir, "runc")
	script := `#!/bin/sh
bundle=
for word; do
  [ "$before" = --bundle ] && bundle=$word
  before=$word
done
[ -n "$bundle" ] && sed -i 's/"rlimits":\[[^]]*\],//' "$bundle/config.json"
exec ` + runc + ` "$@"
`
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return program
}

// Podman starts podman's service of the test's own, which takes images from a registry of the loopback without TLS, and gives its socket. It
// needs root and podman: without them the test is skipped, under CI=true it fails.
func Podman(t testing.TB, registry string) (socket string) {
	t.Helper()
	program, err := exec.LookPath("podman")
	if err != nil || os.Geteuid() != 0 {
		Missing(t, "root and podman (%v)", err)
	}
	dir, err := os.MkdirTemp("", "assay") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { clearOut(dir) })
	plain := filepath.Join(dir, "registries.conf")
	if err := os.WriteFile(plain, fmt.Appendf(nil, "[[registry]]\nlocation = %q\ninsecure = true\n", registry), 0o600); err != nil {
		t.Fatal(err)
	}
	socket = filepath.Join(dir, "podman.sock")
	global := []string{"--root", filepath.Join(dir, "root"), "--runroot", filepath.Join(dir, "run"), "--tmpdir", filepath.Join(dir, "tmp"), "--cgroup-manager=cgroupfs", "--events-backend=file", "--runtime", withoutLimits(t, dir)}
	cmd := exec.Command(program, append(global, "system", "service", "--time=0", "unix://"+socket)...)
	cmd.Env = append(os.Environ(), "CONTAINERS_REGISTRIES_CONF="+plain)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = exec.Command(program, append(global, "rm", "--all", "--force", "--time=0")...).Run()
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(engineStart):
			_ = cmd.Process.Kill()
		}
		log.Close()
	})
	if err := answers(socket, ended); err != nil {
		b, _ := os.ReadFile(log.Name())
		Missing(t, "a podman that can be started here: %v\n%s", err, b)
	}
	return socket
}
