package probes

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// still takes out what moves between two looks at a live machine.
func still(s SUT) SUT {
	s.Network.Listening = NA[[]int]("moves")
	s.OS.UptimeS, s.OS.Load1, s.OS.Load5, s.OS.Load15 = NA[float64]("moves"), NA[float64]("moves"), NA[float64]("moves"), NA[float64]("moves")
	for i := range s.Memory.HugePages.Items {
		s.Memory.HugePages.Items[i].FreePages = NA[int64]("moves")
	}
	for i := range s.Storage.Filesystems.Items {
		s.Storage.Filesystems.Items[i].FreeBytes = NA[int64]("moves")
	}
	for i := range s.CPU.NUMANodes.Items {
		s.CPU.NUMANodes.Items[i].Bytes = NA[int64]("grows while the kernel takes memory into use")
	}
	for i := range s.Accelerators.Items {
		s.Accelerators.Items[i].Processes, s.Accelerators.Items[i].Throttle = List[GPUProcess]{}, List[string]{}
	}
	return s
}

func captureOf(t *testing.T, h Host) (string, []byte) {
	t.Helper()
	var b bytes.Buffer
	if err := Capture(t.Context(), h, &b); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "c.tar.gz")
	write(t, name, b.String())
	return name, b.Bytes()
}

// TestCaptureRoundTrip captures every host and this machine, and reads the same SUT back.
func TestCaptureRoundTrip(t *testing.T) {
	all := map[string]Host{"live": Live()}
	for _, dir := range hosts(t) {
		all[filepath.Base(dir)] = openCapture(t, dir)
	}
	for name, h := range all {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			want, err := capture(t.Context(), h, &b)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "c.tar.gz")
			write(t, path, b.String())
			got := still(Read(t.Context(), openCapture(t, path), Program{}))
			if diff := cmp.Diff(string(document(t, still(want))), string(document(t, got))); diff != "" {
				t.Errorf("(-host +capture)\n%s", diff)
			}
		})
	}
}

// secretHost is a host whose files hold what must not leave it.
func secretHost(t *testing.T) Host {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/hosts/sysfs-rx6900xt")); err != nil {
		t.Fatal(err)
	}
	pod := "/kubepods.slice/kubepods-pod0a1b2c3d_1111_4222_8333_444455556666.slice/cri-containerd-" + strings.Repeat("c0de", 16) + ".scope"
	files := map[string]string{
		"proc/cmdline":                                  "root=UUID=0a1b2c3d-1111-4222-8333-444455556666 password=hunter2 --token s3cr3tvalue ip=192.168.7.9 resume=PARTUUID=deadbeef-02 hostname=gpu-node-17",
		"proc/self/mountinfo":                           "22 1 0:50 / /home/gpu-node-17 rw - nfs4 192.168.7.9:/export rw\n23 1 0:51 / /pods/0a1b2c3d-1111-4222-8333-444455556666 rw - nfs4 fe80::1:2:/x rw\n24 1 0:52 / /data rw - nfs4 filer.example.org:/vol rw,addr=192.168.7.8\n25 1 0:53 / /data2 rw - cifs //filer.example.org/vol2 rw,username=bob\n26 1 0:54 / /home/alice/data rw - nfs4 filer.example.org:/home/alice rw\n",
		"run/udev/data/+dmi:id":                         "E:MEMORY_ARRAY_NUM_DEVICES=1\nE:MEMORY_DEVICE_0_SIZE=1024\nE:MEMORY_DEVICE_0_SERIAL_NUMBER=DIMMSERIAL1\nE:MEMORY_DEVICE_0_ASSET_TAG=ASSET77\nE:ID_SERIAL=BOARDSERIAL\n",
		"proc/self/cgroup":                              "0::" + pod,
		"proc/1/cgroup":                                 "0::" + pod,
		"sys/fs/cgroup" + pod + "/cpu.max":              "200000 100000",
		"sys/class/net/enx001122aabbcc/operstate":       "up",
		"sys/class/net/enx001122aabbcc/address":         "00:11:22:aa:bb:cc",
		"sys/class/dmi/id/product_serial":               "SVCTAG9",
		"sys/class/dmi/id/product_name":                 "Box 00:11:22:aa:bb:cc",
		"sys/class/drm/card0/device/unique_id":          "feedfacecafe0042",
		"sys/class/kfd/kfd/topology/nodes/1/properties": "simd_count 4\nsimd_per_cu 4\nlocation_id 3072\ndomain 0\nunique_id 18369614221190021186\nhive_id 987654321987654321\n",
		"q.xml": `<nvidia_smi_log><attached_gpus>1</attached_gpus><gpu id="00000000:AA:00.0"><serial>1650000000099</serial><uuid>GPU-0a1b2c3d-1111-4222-8333-4444555566aa</uuid>` +
			`<processes><process_info><pid>1</pid><process_name>/home/alice/run.py --api-key=k3yvalue</process_name></process_info></processes></gpu></nvidia_smi_log>`,
		"commands.json": `[{"argv":["nvidia-smi","-q","-x"],"stdout":"q.xml"}]`,
		"uname.json":    `{"nodename":"gpu-node-17.example.org","release":"6.8.0"}`,
	}
	for name, text := range files {
		write(t, filepath.Join(dir, name), text)
	}
	return openCapture(t, dir)
}

// TestCaptureOfNode1: a machine whose name the kernel uses too loses no memory node in its capture.
func TestCaptureOfNode1(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/hosts/bare-metal-mi300x")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "uname.json"), `{"nodename":"node1","release":"6.8.0"}`)
	h := openCapture(t, dir)
	path, _ := captureOf(t, h)
	want, got := Read(t.Context(), h, Program{}).CPU.NUMANodes, Read(t.Context(), openCapture(t, path), Program{}).CPU.NUMANodes
	if diff := cmp.Diff(want, got); diff != "" || len(got.Items) != 3 {
		t.Errorf("%d nodes (-host +capture)\n%s", len(got.Items), diff)
	}
}

// TestCaptureOfPool: what a ZFS pool is made of is asked by its name, which may be the machine's.
func TestCaptureOfPool(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/hosts/bare-metal-mi300x")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "uname.json"), `{"nodename":"aurora","release":"6.8.0"}`)
	write(t, filepath.Join(dir, "proc/self/mountinfo"), "22 1 0:60 / /tank rw - zfs aurora/data rw,xattr\n")
	write(t, filepath.Join(dir, "commands.json"), `[{"argv":["zpool","status","-P","-L","aurora"],"stdout":"zpool.out"}]`)
	write(t, filepath.Join(dir, "zpool.out"), "  pool: aurora\nconfig:\n\n\tNAME  STATE\n\taurora  ONLINE\n\t  raidz1-0  ONLINE\n\t    /dev/nvme0n1p1  ONLINE\n\t    /dev/nvme1n1p1  ONLINE\n\nerrors: No known data errors\n")
	h := openCapture(t, dir)
	path, b := captureOf(t, h)
	want, got := Read(t.Context(), h, Program{}).Storage.Filesystems, Read(t.Context(), openCapture(t, path), Program{}).Storage.Filesystems
	if diff := cmp.Diff(want, got); diff != "" || len(got.Items) != 1 || got.Items[0].Drives.Value != 2 || got.Items[0].Summary.Value != "ZFS on raidz1 (/tank; 2 × NVMe)" {
		t.Errorf("%+v (-host +capture)\n%s", got.Items, diff)
	}
	if text := string(unpacked(t, b)); strings.Contains(text, "aurora") {
		at := strings.Index(text, "aurora")
		t.Errorf("the capture holds %s", text[max(0, at-60):at+20])
	}
}

// TestCaptureIsAnonymous scans a whole capture, names and contents, for everything that names the machine.
func TestCaptureIsAnonymous(t *testing.T) {
	h := secretHost(t)
	path, b := captureOf(t, h)
	text := strings.ToLower(string(unpacked(t, b)))
	for _, secret := range []string{
		"0a1b2c3d", "hunter2", "s3cr3tvalue", "192.168.7.9", "deadbeef", "gpu-node-17", "fe80::", "dimmserial", "asset77", "boardserial", "001122aabbcc", "00:11:22",
		"svctag9", "filer", "bob", "feedfacecafe0042", "18369614221190021186", "987654321987654321", "1650000000099", "alice", "k3yvalue", "c0dec0de",
	} {
		if strings.Contains(text, secret) {
			t.Errorf("the capture holds %q", secret)
		}
	}
	want, got := Read(t.Context(), h, Program{}), Read(t.Context(), openCapture(t, path), Program{})
	want.System.Product, got.System.Product = Fact[string]{}, Fact[string]{} // a MAC address in a product's name is cut
	if n := len(got.Storage.Filesystems.Items); n != 5 {
		t.Errorf("%d file systems of 5", n)
	}
	want.Storage, got.Storage = Storage{}, Storage{} // and the host's name in a mount point
	if diff := cmp.Diff(string(document(t, want)), string(document(t, got))); diff != "" {
		t.Errorf("(-host +capture)\n%s", diff)
	}
	if doc := string(document(t, got)); regexp.MustCompile(`(?i)alice|c0dec0de|0a1b2c3d|001122aabbcc|hunter2|k3yvalue`).MatchString(doc) {
		t.Error("the SUT names a person, an address or a secret")
	}
}

func unpacked(t *testing.T, b []byte) []byte {
	t.Helper()
	zr, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	tr := tar.NewReader(zr)
	for {
		hdr, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return out.Bytes()
		}
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString(hdr.Name + " " + hdr.Linkname + "\n")
		if _, err := io.Copy(&out, tr); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReadLive reads this machine, and everything that is not known says why.
func TestReadLive(t *testing.T) {
	s := Read(t.Context(), Live(), Program{})
	everyLeafSpeaks(t, document(t, s))
	if !s.CPU.Model.IsKnown() && !s.Memory.Bytes.IsKnown() {
		t.Error("neither the CPU nor the memory of this machine is known")
	}
}

// BenchmarkRead reads this machine.
func BenchmarkRead(b *testing.B) {
	h := Live()
	for b.Loop() {
		Read(b.Context(), h, Program{})
	}
}

// TestProbeFailsAlone lets a probe hang, one fail and one panic; the others keep their facts.
func TestProbeFailsAlone(t *testing.T) {
	h := openCapture(t, "testdata/hosts/bare-metal-mi300x")
	owns := func(s *SUT) []any { return []any{&s.CPU} }
	synctest.Test(t, func(t *testing.T) { // whose clock stands still until everything waits
		release := make(chan struct{})
		for name, run := range map[string]func(context.Context, Host, *SUT) error{
			"did not answer within": func(context.Context, Host, *SUT) error { <-release; return nil },
			"went wrong":            func(context.Context, Host, *SUT) error { return errors.New("went wrong") },
			"broke off":             func(context.Context, Host, *SUT) error { panic("at the disco") },
		} {
			s := runProbe(t.Context(), h, probe{"cpu", time.Second, owns, run})
			if !strings.Contains(s.CPU.Model.Unknown, name) || !strings.Contains(s.CPU.NUMANodes.Unknown, name) {
				t.Errorf("%s: %+v", name, s.CPU)
			}
		}
		close(release)
		h.Exec = func(ctx context.Context, argv ...string) (Output, error) { <-ctx.Done(); return Output{}, ctx.Err() }
		s := Read(t.Context(), h, Program{})
		if s.CPU.Sockets.Value != 2 || s.Storage.Filesystems.Unknown != "" {
			t.Errorf("a hanging program cost other facts: %+v", s.CPU)
		}
		if s.Software.Docker.IsKnown() {
			t.Error("a hanging engine has a version")
		}
	})
}
