package host

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestExec(t *testing.T) {
	out, err := execLive(t.Context(), "sh", "-c", "echo $LC_ALL; echo oops >&2; exit 9")
	if err != nil || out.Exit != 9 || string(out.Stdout) != "C\n" || string(out.Stderr) != "oops\n" {
		t.Errorf("%+v %v", out, err)
	}
	if _, err := execLive(t.Context(), "no-such-program-here"); !errors.Is(err, ErrNotFound) {
		t.Errorf("%v", err)
	}
	if _, err := execLive(t.Context(), "head", "-c", strconv.Itoa(maxOutputBytes+1), "/dev/zero"); err == nil || !strings.Contains(err.Error(), "more than 16 MiB") {
		t.Errorf("%v", err)
	}
}

// TestExecKillsItsGroup starts a program with a child that outlives it, and finds both gone after the time is up.
func TestExecKillsItsGroup(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := execLive(ctx, "sh", "-c", "sleep 60 & echo $! > "+pidFile+"; wait")
	if err == nil || time.Since(start) > 10*time.Second {
		t.Errorf("%v after %s", err, time.Since(start))
	}
	b, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	stat, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err := syscall.Kill(pid, 0); err == nil && !strings.Contains(string(stat), ") Z") {
		t.Errorf("the child %d still runs: %s", pid, stat)
	}
}

// TestReadStaysInside reads through links of every kind; none leads out of the root.
func TestReadStaysInside(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "secret")
	put(t, outside, "secret")
	put(t, filepath.Join(dir, "sys/real/value"), " 42\n\x00")
	for name, target := range map[string]string{
		"sys/relative": "real", "sys/absolute": "/sys/real", "sys/up": "../../../../sys/real", "sys/out": outside, "sys/loop": "loop", "sys/climb": strings.Repeat("../", 30) + outside,
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "sys/fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	h := Host{Root: dir}
	for _, name := range []string{"/sys/relative/value", "/sys/absolute/value", "/sys/up/value", "/../sys/real/value"} {
		if got, err := h.Text(name); err != nil || got != "42" {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
	for _, name := range []string{"/sys/out", "/sys/climb", "/sys/loop", "/sys/fifo", "/sys", "/none"} {
		got, err := h.Text(name)
		if err == nil || got != "" || strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
}

// tarOf packs entries: text is a file, "->target" a link.
func tarOf(t *testing.T, entries ...[2]string) string {
	t.Helper()
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	tw := tar.NewWriter(zw)
	for _, e := range entries {
		hdr := &tar.Header{Name: e[0], Mode: 0o644, Typeflag: tar.TypeReg, Size: int64(len(e[1]))}
		if target, ok := strings.CutPrefix(e[1], "->"); ok {
			hdr.Typeflag, hdr.Linkname, hdr.Size = tar.TypeSymlink, target, 0
		}
		if err := tw.WriteHeader(hdr); err != nil {
			t.Fatal(err)
		}
		if hdr.Typeflag == tar.TypeReg {
			if _, err := tw.Write([]byte(e[1])); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(tw.Close(), zw.Close()); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "c.tar.gz")
	put(t, name, b.String())
	return name
}

// TestUnpackStaysInside refuses archives that write out of their folder.
func TestUnpackStaysInside(t *testing.T) {
	victim := t.TempDir()
	for name, entries := range map[string][][2]string{
		"dots":         {{"../evil", "x"}},
		"absolute":     {{"/tmp/evil", "x"}},
		"through link": {{"sys", "->" + victim}, {"sys/evil", "x"}},
		"through up":   {{"sys/a", "->../../../../../../../../../tmp"}, {"sys/a/evil", "x"}},
		"onto a link":  {{"sys/a", "->" + victim + "/evil"}, {"sys/a", "x"}},
	} {
		_, _, err := FromCapture(tarOf(t, entries...))
		left, _ := os.ReadDir(victim)
		if err == nil || len(left) > 0 {
			t.Errorf("%s: %v, %v", name, err, left)
		}
	}
	var big bytes.Buffer
	zw := gzip.NewWriter(&big)
	if err := errors.Join(tar.NewWriter(zw).WriteHeader(&tar.Header{Name: "sys/a", Typeflag: tar.TypeReg, Size: maxEntryBytes + 1}), zw.Close()); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(victim, "big.tar.gz"), big.String())
	if _, _, err := FromCapture(filepath.Join(victim, "big.tar.gz")); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("a huge file: %v", err)
	}
	cut := tarOf(t, [2]string{"sys/a", strings.Repeat("x", 10000)})
	b, err := os.ReadFile(cut)
	if err != nil {
		t.Fatal(err)
	}
	put(t, cut, string(b[:len(b)-20]))
	if _, _, err := FromCapture(cut); err == nil {
		t.Error("an archive that is cut off was opened")
	}
}

// TestFromCapture opens an archive of a folder, reads through its links and cleans up.
func TestFromCapture(t *testing.T) {
	h, done, err := FromCapture(tarOf(t, [2]string{"./box/sys/b", "->a"}, [2]string{"./box/sys/a", "7"}, [2]string{"box/uname.json", `{"release":"6.1"}`}))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := h.Text("/sys/b"); err != nil || got != "7" {
		t.Errorf("%q %v", got, err)
	}
	if u, err := h.Kernel(); err != nil || u.Release != "6.1" {
		t.Errorf("%+v %v", u, err)
	}
	if err := done(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(h.Root); err == nil {
		t.Error("the unpacked capture is still there")
	}
	for _, text := range []string{`[`, `{"argv":1}`} {
		dir := t.TempDir()
		put(t, filepath.Join(dir, "commands.json"), text)
		if _, _, err := FromCapture(dir); err == nil {
			t.Errorf("commands.json %s was read", text)
		}
	}
}

// TestReplay finds commands whatever the order and spelling of their flags, and no others.
func TestReplay(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "commands.json"), `[{"argv":[]},{"argv":["/usr/bin/nvidia-smi","-x","-q"],"stdout":"1"},{"argv":["nvidia-smi","--query-gpu=a,b","--format=csv"],"stdout":"2"},
		{"argv":["lsblk","-J"],"exit":3,"stdout":"3"},{"argv":["slow"],"failed":"slow took too long"},{"argv":["out"],"stdout":"../../../../etc/hostname"}]`)
	for _, n := range []string{"1", "2", "3"} {
		put(t, filepath.Join(dir, n), n)
	}
	h, _, err := FromCapture(dir)
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{"nvidia-smi -q -x": "1", "nvidia-smi --query-gpu=c --format=csv,nounits": "2", "lsblk --json": "3"} {
		if out, err := h.Run(t.Context(), strings.Fields(line)...); err != nil || string(out.Stdout) != want {
			t.Errorf("%s: %q %v", line, out.Stdout, err)
		}
	}
	for _, line := range []string{"nvidia-smi -q", "nvidia-smi", "rocm-smi"} {
		if _, err := h.Run(t.Context(), strings.Fields(line)...); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", line, err)
		}
	}
	if _, err := h.Run(t.Context(), "slow"); err == nil || errors.Is(err, ErrNotFound) {
		t.Errorf("a command that hung: %v", err)
	}
	if out, err := h.Run(t.Context(), "out"); err == nil {
		t.Errorf("an output outside of the capture: %q", out.Stdout)
	}
}

// TestProgramNames: of a program that holds a GPU only its name is kept, in the text form of nvidia-smi's report too.
func TestProgramNames(t *testing.T) {
	for command, want := range map[string]string{
		"/usr/bin/python": "python", "./gpu_burn": "gpu_burn", "VLLM::EngineCore": "VLLM::EngineCore", "/home/al/serve.py --key k /x/y": "serve.py",
	} {
		if got := ProgramName(command); got != want {
			t.Errorf("%q gives %q", command, got)
		}
		line := "            Name                          : "
		if got := string((&recording{}).cleaner().output([]byte(line + command + "\n    Other : a b\n"))); got != line+want+"\n    Other : a b\n" {
			t.Errorf("%q becomes %q", command, got)
		}
	}
}

func TestNaturalOrder(t *testing.T) {
	names := []string{"cpu10", "cpu2", "card1", "cpu02a", "cpu", "nvme0n1p10", "nvme0n1p9"}
	slices.SortFunc(names, func(a, b string) int {
		switch {
		case NaturalLess(a, b):
			return -1
		case NaturalLess(b, a):
			return 1
		}
		return 0
	})
	want := []string{"card1", "cpu", "cpu2", "cpu02a", "cpu10", "nvme0n1p9", "nvme0n1p10"}
	if !slices.Equal(names, want) {
		t.Errorf("%v", names)
	}
}

func TestSafeCmdline(t *testing.T) {
	for line, want := range map[string]string{
		"console=10.0.0.1:6666":                "console=[ip]:6666",
		"quiet iommu=pt":                       "quiet iommu=pt",
		"a.password=x --token y --auth-on z=1": "a.password=[cut] --token [cut] --auth-on z=1",
		"root=UUID=0a1b2c3d-1111-4222-8333-444455556666 r=PARTUUID=dead-01":        "root=UUID=[uuid] r=PARTUUID=[uuid]",
		"ip=10.0.0.1:::255.255.255.0:node7 mac=aa:bb:cc:dd:ee:ff pci=0000:1b:00.0": "ip=[cut] mac=[mac] pci=0000:1b:00.0",
		"systemd.set_credential=a:b cryptkey=/x:y rd.luks.key=/k":                  "systemd.set_credential=[cut] cryptkey=[cut] rd.luks.key=[cut]",
	} {
		if got := SafeCmdline(line); got != want {
			t.Errorf("%q\ngot  %q\nwant %q", line, got, want)
		}
	}
}

func FuzzSafeCmdline(f *testing.F) {
	f.Add("root=UUID=0a1b2c3d-1111-4222-8333-444455556666 --token x fe80::1 1.2.3.4")
	f.Fuzz(func(t *testing.T, line string) {
		once := SafeCmdline(line)
		if twice := SafeCmdline(once); once != twice {
			t.Errorf("%q becomes %q, then %q", line, once, twice)
		}
	})
}

// TestFailedReads keeps apart what a machine lacked, what it refused and what a capture does not hold.
func TestFailedReads(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "commands.json"), `[]`)
	put(t, filepath.Join(dir, "failed.json"), `{"/sys/eio":"cannot be read: input/output error","/sys/gone":"does not exist"}`)
	h, _, err := FromCapture(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"/sys/eio": "/sys/eio cannot be read: input/output error", "/sys/gone": "/sys/gone does not exist", "/sys/other": "/sys/other is not in the capture",
	} {
		f := TextFact(h, name)
		if f.IsKnown() || f.Unknown != want {
			t.Errorf("%+v", f)
		}
		if h.Absent(name) != (name == "/sys/gone") {
			t.Errorf("Absent(%s)", name)
		}
	}
}
