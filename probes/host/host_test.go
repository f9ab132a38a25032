package host

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
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
	out, err := newPatience().exec(t.Context(), "sh", "-c", "echo $LC_ALL; echo oops >&2; exit 9")
	if err != nil || out.Exit != 9 || string(out.Stdout) != "C\n" || string(out.Stderr) != "oops\n" {
		t.Errorf("%+v %v", out, err)
	}
	if _, err := newPatience().exec(t.Context(), "no-such-program-here"); !errors.Is(err, ErrNotFound) {
		t.Errorf("%v", err)
	}
	if _, err := newPatience().exec(t.Context(), "head", "-c", strconv.Itoa(maxOutputBytes+1), "/dev/zero"); err == nil || !strings.Contains(err.Error(), "more than 16 MiB") {
		t.Errorf("%v", err)
	}
}

// TestExecKillsItsGroup starts a program with a child that outlives it, and finds both gone after it was stopped.
func TestExecKillsItsGroup(t *testing.T) {
	pidPipe := filepath.Join(t.TempDir(), "pid")
	if err := syscall.Mkfifo(pidPipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stopped := make(chan error, 1)
	go func() {
		_, err := newPatience().exec(ctx, "sh", "-c", "sleep 1000 & echo $! > "+pidPipe+"; wait")
		stopped <- err
	}()
	b, err := os.ReadFile(pidPipe) // comes back when the child runs and its number is written
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-stopped; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	if !ends(t, pid) {
		t.Errorf("the child %d still runs", pid)
	}
}

// TestExecEndsWhatIsLeft runs a program that ends and leaves a child which holds its output open: what it printed counts, and the child is gone.
func TestExecEndsWhatIsLeft(t *testing.T) {
	out, err := newPatience().exec(t.Context(), "sh", "-c", "sleep 1000 & echo $!")
	if err != nil || out.Exit != 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out.Stdout)))
	if err != nil {
		t.Fatal(err)
	}
	if !ends(t, pid) {
		t.Errorf("the child %d still runs", pid)
	}
}

// TestEngineRefuses: an engine that this user may not ask is there, and the reason says what the user lacks.
func TestEngineRefuses(t *testing.T) {
	for why, want := range map[error]string{syscall.EACCES: "/var/run/docker.sock " + refusal(), syscall.ECONNREFUSED: "no container engine answers on /var/run/docker.sock"} {
		h := Host{Get: func(context.Context, string, string) ([]byte, error) { return nil, fmt.Errorf("ask: %w", why) }}
		if _, err := h.AskEngine(t.Context(), "/var/run/docker.sock", "/version", "docker", "version"); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v", err)
		}
	}
}

// ends waits until a process that was killed is gone, which the kernel may take its time for.
func ends(t *testing.T, pid int) bool {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, syscall.ESRCH) {
		return true
	}
	if err != nil {
		t.Skipf("no handle of a process: %v", err)
	}
	defer unix.Close(fd)
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 20_000)
		if !errors.Is(err, syscall.EINTR) {
			return n == 1
		}
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
		_, _, err := FromCapture(t.Context(), tarOf(t, entries...))
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
	if _, _, err := FromCapture(t.Context(), filepath.Join(victim, "big.tar.gz")); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("a huge file: %v", err)
	}
	cut := tarOf(t, [2]string{"sys/a", strings.Repeat("x", 10000)})
	b, err := os.ReadFile(cut)
	if err != nil {
		t.Fatal(err)
	}
	put(t, cut, string(b[:len(b)-20]))
	if _, _, err := FromCapture(t.Context(), cut); err == nil {
		t.Error("an archive that is cut off was opened")
	}
}

// TestUnpackLimits: an archive of too many files is refused before the first is written, and a signal ends it.
func TestUnpackLimits(t *testing.T) {
	name := tarOf(t, [2]string{"sys/a", "1"}, [2]string{"sys/b", "2"}, [2]string{"sys/c", "3"})
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for want, c := range map[string]struct {
		ctx  context.Context
		most limits
	}{
		"holds more than 1 MiB or 2 files": {t.Context(), limits{1 << 20, 2}},
		"holds more than 0 MiB":            {t.Context(), limits{1 << 10, 9}},
		context.Canceled.Error():           {stopped, captureLimits()},
	} {
		dir := t.TempDir()
		err := unpack(c.ctx, name, dir, c.most)
		if left, _ := os.ReadDir(dir); err == nil || !strings.Contains(err.Error(), want) || len(left) > 0 {
			t.Errorf("%s: %v, %v", want, err, left)
		}
	}
	if _, _, err := FromCapture(stopped, name); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := FromCapture(t.Context(), pipe); err == nil || !strings.Contains(err.Error(), "neither a folder nor a file") {
		t.Errorf("%v", err)
	}
}

// TestCaptureOfACapture keeps what is known of the machine: what it lacked and what it refused.
func TestCaptureOfACapture(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "failed.json"), `{"/dev/ipmi0":"does not exist","/sys/eio":"cannot be read: input/output error"}`)
	put(t, filepath.Join(dir, "commands.json"), `[]`)
	h, _, err := FromCapture(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Record(t.Context(), h, func(h Host) { h.Absent("/dev/ipmi0"); _, _ = h.Text("/sys/eio") }, &b); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "c.tar.gz")
	put(t, copied, b.String())
	again, done, err := FromCapture(t.Context(), copied)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = done() })
	if f := TextFact(again, "/sys/eio"); !again.Absent("/dev/ipmi0") || !strings.Contains(f.Unknown, "input/output error") {
		t.Errorf("%v, %+v", again.Absent("/dev/ipmi0"), f)
	}
}

// TestFromCapture opens an archive of a folder, reads through its links and cleans up.
func TestFromCapture(t *testing.T) {
	h, done, err := FromCapture(t.Context(), tarOf(t, [2]string{"./box/sys/b", "->a"}, [2]string{"./box/sys/a", "7"}, [2]string{"box/uname.json", `{"release":"6.1"}`}))
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
		if _, _, err := FromCapture(t.Context(), dir); err == nil {
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
	h, _, err := FromCapture(t.Context(), dir)
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
		if got := string((&recording{}).cleaner(Host{}).output([]string{"nvidia-smi"}, []byte(line+command+"\n    Other : a b\n"))); got != line+want+"\n    Other : a b\n" {
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
		"console=10.0.0.1:6666": "console=[ip]:6666",
		"quiet iommu=pt":        "quiet iommu=pt",
		`initrd=\0a1b2c3d111142228333444455556666\6.8\initrd systemd.machine_id=0a1b2c3d111142228333444455556666`: `initrd=\[uuid]\6.8\initrd systemd.machine_id=[uuid]`,
		"a.password=x --token y --auth-on z=1":                                                                                                                     "a.password=[cut] --token [cut] --auth-on z=1",
		"root=UUID=0a1b2c3d-1111-4222-8333-444455556666 r=PARTUUID=dead-01":                                                                                        "root=UUID=[uuid] r=PARTUUID=[uuid]",
		"ip=10.0.0.1:::255.255.255.0:node7 mac=aa:bb:cc:dd:ee:ff pci=0000:1b:00.0":                                                                                 "ip=[cut] mac=[mac] pci=0000:1b:00.0",
		"netroot=iscsi:a:b@10.1.2.3::3260::iqn.x:y systemd.setenv=A=b BOOTIF=01-0a-1b-2c-3d-4e-5f rd.zfcp=0x5005076300c213e9":                                      "netroot=[cut] systemd.setenv=[cut] BOOTIF=[cut] rd.zfcp=[cut]",
		"root=nfs:filer.corp:/export ds=nocloud-net;s=http://seed/ inst.ks=http://ks/x?k=1 conf=https://a.b/c?sig=1 sink=box.corp":                                 "root=[cut] ds=[cut] inst.ks=[cut] conf=[cut] sink=[cut]",
		"BOOT_IMAGE=(hd0,gpt2)/vmlinuz-6.8.el9.x86_64.img root=/dev/mapper/vg-root rd.lvm.lv=vg/root crashkernel=512M-:192M isolcpus=domain,2-63 amdgpu.noretry=0": "BOOT_IMAGE=(hd0,gpt2)/vmlinuz-6.8.el9.x86_64.img root=/dev/mapper/vg-root rd.lvm.lv=vg/root crashkernel=512M-:192M isolcpus=domain,2-63 amdgpu.noretry=0",
		`iommu.passthrough=1 a.pass=x passtext=z passwd=y dyndbg="file ac +p" b.passphrase="two words" c="d --token x y" "e.token=x y" quiet`:                      `iommu.passthrough=1 a.pass=[cut] passtext=[cut] passwd=[cut] dyndbg="file ac +p" b.passphrase=[cut] c=[cut] [cut] quiet`,
		"systemd.set_credential=a:b cryptkey=/x:y rd.luks.key=/k":                                                                                                  "systemd.set_credential=[cut] cryptkey=[cut] rd.luks.key=[cut]",
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

// TestNoValue: words for none, bytes that are no text and the number of a register that does not answer are no values, each with its reason.
func TestNoValue(t *testing.T) {
	dir := t.TempDir()
	h := Host{Root: dir}
	for text, want := range map[string]string{
		"": "/f is empty", "N/A\n": `/f reads "N/A"`, "[Not Supported]": `/f reads "[Not Supported]"`, "ERR!": `/f reads "ERR!"`, "[Unknown Error]": `/f reads "[Unknown Error]"`,
		"\xff\xff": "/f holds bytes that are no text", "0xffffffff": `/f reads "0xffffffff"`, "4294967295": `/f reads "4294967295"`, "-1": `/f reads "-1"`,
	} {
		put(t, filepath.Join(dir, "f"), text)
		if f := IntFact[int64](h, "/f"); f.IsKnown() || f.Unknown != want {
			t.Errorf("%q: %+v", text, f)
		}
	}
	put(t, filepath.Join(dir, "f"), "always [madvise] never\n")
	if f := TextFact(h, "/f"); f.Value != "always [madvise] never" {
		t.Errorf("%+v", f)
	}
}

// TestForDocument: what a device or a foreign capture calls something does not reach into a terminal, and a reason is one line.
func TestForDocument(t *testing.T) {
	for text, want := range map[string]string{"\x1b[31mMI300X\x1b[0m": " [31mMI300X [0m", "a\nb\x00": "a b ", "2 × NVMe": "2 × NVMe", "\u202egnp": " gnp",
		strings.Repeat("x", maxText+9): strings.Repeat("x", maxText) + "…", strings.Repeat("ü", maxText): strings.Repeat("ü", maxText/2) + "…"} {
		if got := (Host{}).ForDocument()(text); got != want {
			t.Errorf("%q becomes %q, not %q", text, got, want)
		}
	}
}

// TestRecordingKeepsTheFirst: a file that changes while a machine is captured stands there as the probe saw it.
func TestRecordingKeepsTheFirst(t *testing.T) {
	r := &recording{files: map[string][]byte{}}
	r.file("/sys/f", []byte("first"))
	r.file("/sys/f", []byte("second"))
	if got := string(r.files["/sys/f"]); got != "first" {
		t.Errorf("%q", got)
	}
}

// TestFailedReads keeps apart what a machine lacked, what it refused and what a capture does not hold.
func TestFailedReads(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "commands.json"), `[]`)
	put(t, filepath.Join(dir, "failed.json"), `{"/sys/eio":"cannot be read: input/output error","/sys/gone":"does not exist"}`)
	h, _, err := FromCapture(t.Context(), dir)
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
