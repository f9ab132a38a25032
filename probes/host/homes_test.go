package host

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/fault"
)

// homely is a host on which people have their folders in many places.
func homely() *recording {
	return &recording{
		dirs: map[string]bool{"/home/carol/.config": true}, links: map[string]string{"/opt/tool": "/home/alice/tool"}, failed: map[string]string{"/home/bob/x": "open /home/bob/x: permission denied"},
		files: map[string][]byte{
			"/proc/self/mountinfo": []byte("25 1 8:1 /home/alice /data rw - ext4 /dev/sda1 rw\n26 1 8:2 / /home/john\\040doe/disk rw - ext4 /dev/sdb1 rw\n27 1 8:3 / /run/media/alice/stick rw - vfat /dev/sdc1 rw\n"),
			"/etc/conf":            []byte(`root="/home/user1/docker"`),
		},
		commands: map[string]capturedCommand{"docker info": {Argv: []string{"docker", "info"}, out: Output{Stdout: []byte(`{"DockerRootDir":"/home/carol/docker","Home":"/home"}`)}}},
		statfs:   map[string]Statfs{"/home/john doe/disk": {}, "/home/alice": {}, "/home": {}},
	}
}

// A capture holds no name of a person, its parts still fit each other, and capturing it once more changes nothing.
func TestHomes(t *testing.T) {
	r := homely()
	var b bytes.Buffer
	if err := r.write(&b, r.cleaner(Host{})); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "c.tar.gz")
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	into := t.TempDir()
	if err := unpack(t.Context(), name, into, captureLimits()); err != nil {
		t.Fatal(err)
	}
	all := contentOf(t, into)
	for _, person := range []string{"alice", "bob", "carol", "john", "doe"} {
		if strings.Contains(all, person) {
			t.Errorf("the capture names %s:\n%s", person, all)
		}
	}
	for _, want := range []string{
		"8:1 /home/user2 /data", "/home/user5/disk", "/run/media/user2/stick", `"/home/user1/docker"`, `"/home":`, `"/home/user5/disk"`, `"/home/user2":`,
		`"/home/user3/x": "open /home/user3/x: permission denied"`, `"DockerRootDir":"/home/user4/docker"`, "/opt/tool -> /home/user2/tool", "home/user4/.config",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in the capture:\n%s", want, all)
		}
	}
	clean := r.homes()
	again := (&recording{files: map[string][]byte{"/x": []byte(clean("/home/alice /home/bob /home/user1"))}}).homes()
	if got := again("/home/user2 /home/user3 /home/user1"); got != "/home/user2 /home/user3 /home/user1" {
		t.Errorf("a second time: %s", got)
	}
}

// contentOf writes out a folder: each file's path and content, each link's target.
func contentOf(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		all.WriteString(strings.TrimPrefix(path, dir))
		if err == nil && info.Mode()&os.ModeSymlink != 0 {
			var target string
			target, err = os.Readlink(path)
			all.WriteString(" -> " + target)
		}
		if err == nil && info.Mode().IsRegular() {
			var b []byte
			b, err = os.ReadFile(path)
			all.WriteString("\n" + string(b))
		}
		all.WriteString("\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func TestNumberOfHomes(t *testing.T) {
	names := map[string]string{"alice": "", "user1": "", "user3": "", "bob": "", "carol": "", "user": ""}
	number(names)
	want := map[string]string{"alice": "user2", "bob": "user4", "carol": "user5", "user": "user", "user1": "user1", "user3": "user3"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
}

// What is no capture is refused, whatever it is.
func TestNoCapture(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(text, []byte("no archive"), 0o600); err != nil {
		t.Fatal(err)
	}
	none := "it has none of sys/, proc/, commands.json"
	for name, want := range map[string]string{
		filepath.Join(dir, "absent"): "no such file",
		dir:                          none,
		text:                         "not a gzip'd tar",
		tarOf(t, [2]string{"readme.txt", "hello"}): none,
	} {
		_, _, err := FromCapture(t.Context(), name)
		f := fault.Of(err, fault.Client)
		if f == nil || f.Layer != fault.Preflight || f.Code != "preflight.no_capture" || !strings.Contains(f.Text, want) || !strings.Contains(f.Hint, "--capture") {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}
