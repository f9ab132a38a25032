package systemd

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// program is the path the unit starts; systemd wants it to be there, so the tests put their own in its place.
const program = "/usr/local/bin/assay"

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// unit writes the unit with a program that exists.
func unit(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "assay.service")
	text := strings.ReplaceAll(read(t, "assay.service"), program, self)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// tool runs one of systemd's programs, or skips where it is not installed.
func tool(t *testing.T, argv ...string) (string, error) {
	t.Helper()
	if _, err := exec.LookPath(argv[0]); errors.Is(err, exec.ErrNotFound) {
		t.Skipf("no %s in PATH: systemd does not look at the files", argv[0])
	}
	out, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).CombinedOutput()
	return string(out), err
}

func TestUnitVerifies(t *testing.T) {
	path := unit(t)
	out, err := tool(t, "systemd-analyze", "verify", "--man=no", path)
	if err != nil {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
	for line := range strings.Lines(out) {
		if strings.Contains(line, "assay.service") { // it speaks of the machine's other units too
			t.Errorf("systemd complains: %s", line)
		}
	}
}

// TestUnitIsHardened: 30 of 100 is "OK"; a unit without hardening has 96.
func TestUnitIsHardened(t *testing.T) {
	out, err := tool(t, "systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=30", unit(t))
	if err != nil {
		t.Errorf("exposure above 3.0: %v\n%s", err, out)
	}
}

func TestUsersAreCreated(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "etc"), 0o755); err != nil {
		t.Fatal(err)
	}
	file, err := filepath.Abs("assay.sysusers")
	if err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 {
		t.Skip("not root: systemd-sysusers cannot write a root directory of its own")
	}
	if out, err := tool(t, "systemd-sysusers", "--root="+root, file); err != nil {
		t.Fatalf("systemd-sysusers: %v\n%s", err, out)
	}
	if passwd := read(t, filepath.Join(root, "etc/passwd")); !strings.Contains(passwd, "assay:x:") || !strings.Contains(passwd, ":/var/lib/assay:") {
		t.Errorf("no user assay in %s", passwd)
	}
	if group := read(t, filepath.Join(root, "etc/group")); !regexp.MustCompile(`(?m)^render:.*:assay$`).MatchString(group) {
		t.Errorf("assay is not in the group render: %s", group)
	}
}

// setting is the value of a key of the unit.
func setting(t *testing.T, key string) string {
	t.Helper()
	m := regexp.MustCompile(`(?m)^` + key + `=(.*)$`).FindStringSubmatch(read(t, "assay.service"))
	if m == nil {
		t.Fatalf("the unit does not set %s", key)
	}
	return m[1]
}

// TestUnitStopsInOrder: the daemon alone is asked to stop, and has longer than a server's default grace of 30 s for it.
func TestUnitStopsInOrder(t *testing.T) {
	for key, want := range map[string]string{"Type": "exec", "KillMode": "mixed", "StateDirectory": "assay", "EnvironmentFile": "-/etc/assay/assay.env"} {
		if got := setting(t, key); got != want {
			t.Errorf("%s=%s, want %s", key, got, want)
		}
	}
	limit, err := time.ParseDuration(strings.ReplaceAll(setting(t, "TimeoutStopSec"), "min", "m"))
	if err != nil || limit < 2*time.Minute {
		t.Errorf("TimeoutStopSec is %v (%v), want 2 minutes or more", limit, err)
	}
}

// TestEnvironmentIsUsed: what the env file sets, the unit or the program reads.
func TestEnvironmentIsUsed(t *testing.T) {
	if !strings.Contains(read(t, "assay.env"), "\nASSAY_SERVE_FLAGS=") || !strings.HasSuffix(setting(t, "ExecStart"), "assay serve $ASSAY_SERVE_FLAGS") {
		t.Error("the env file and the unit do not agree on ASSAY_SERVE_FLAGS")
	}
}
