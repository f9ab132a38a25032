package engines

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/probes/host"
	"assay/probes/sut"
)

func TestDockerVersion(t *testing.T) {
	for body, want := range map[string][3]string{
		`{"Version":"29.2.1","Components":[{"Name":"containerd","Version":"2.2"},{"Name":"runc","Version":"1.3.4"}]}`: {"29.2.1", "2.2", "1.3.4"},
		`{"Client":{"Version":"9"},"Server":{"Version":"29.2.1"}}`:                                                    {"29.2.1", "", ""},
		`{"Client":{"Version":"9"},"Server":null}`:                                                                    {"", "", ""},
		`<html>`: {"", "", ""}, ``: {"", "", ""},
	} {
		engine, containerd, runc := parseDockerVersion([]byte(body), "x")
		if engine.Value != want[0] || containerd.Value != want[1] || runc.Value != want[2] || (want[0] == "" && engine.Unknown == "") {
			t.Errorf("%s: %+v %+v %+v", body, engine, containerd, runc)
		}
	}
}

func TestInfo(t *testing.T) {
	got := parseInfo([]byte(`{"ID":"x","Name":"node-17","Driver":"overlay2","CgroupDriver":"systemd","CgroupVersion":"2","Runtimes":{"runc":{"path":"runc"},"nvidia":{}},"DefaultRuntime":"runc","SecurityOptions":["name=seccomp,profile=builtin","name=rootless"],"CDISpecDirs":["/etc/cdi","/var/run/cdi"]}`), "e")
	want := sut.ContainerEngine{
		Runtimes: sut.Known([]string{"nvidia", "runc"}, "e"), DefaultRuntime: sut.Known("runc", "e"), StorageDriver: sut.Known("overlay2", "e"), CgroupDriver: sut.Known("systemd", "e"),
		CgroupVersion: sut.Known("2", "e"), Rootless: sut.Known(true, "e"), CDIDirs: sut.Known([]string{"/etc/cdi", "/var/run/cdi"}, "e"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, body := range []string{``, `{"Driver":`, `{"ServerErrors":["Cannot connect to the Docker daemon"],"ClientInfo":{}}`, `[]`} {
		if got := parseInfo([]byte(body), "e"); got.Runtimes.Unknown == "" || got.Rootless.IsKnown() || got.StorageDriver.IsKnown() {
			t.Errorf("%s: %+v", body, got)
		}
	}
	if old := parseInfo([]byte(`{"Driver":"vfs"}`), "e"); old.CDIDirs.NA == "" || old.Runtimes.Unknown == "" || old.Rootless.Value {
		t.Errorf("%+v", old)
	}
}

func TestVersions(t *testing.T) {
	for text, want := range map[string]string{
		"NVIDIA Container Toolkit CLI version 1.17.4\ncommit: 9b69590c7428470a72f2ae05f826412976af1395\n":  "1.17.4",
		"runc version 1.2.5-0ubuntu1~22.04.1\nspec: 1.2.0\ngo: go1.23\n":                                   "1.2.5-0ubuntu1~22.04.1",
		"containerd github.com/containerd/containerd/v2 v2.2.1 dea7da592f5d1d2b7755e3a161be07f43fad8f75\n": "v2.2.1",
		"podman version 4.9.3\n": "4.9.3", "AMD Container Toolkit CLI version v1.2.0\n": "v1.2.0", "no such thing": "", "": "",
	} {
		if got := parseVersion(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

const cdiYAML = "---\ncdiVersion: 0.5.0\ncontainerEdits:\n  deviceNodes:\n  - path: /dev/nvidiactl\ndevices:\n- containerEdits:\n    deviceNodes:\n    - path: /dev/nvidia0\n  name: \"0\"\n- containerEdits:\n    deviceNodes:\n    - path: /dev/nvidia0\n    - path: /dev/nvidia1\n  name: all\nkind: nvidia.com/gpu\n"

func TestCDI(t *testing.T) {
	for text, want := range map[string]struct {
		kind    string
		devices int
	}{
		cdiYAML: {"nvidia.com/gpu", 2},
		"kind: \"amd.com/gpu\"\ndevices:\n  - name: \"0\"\n    containerEdits:\n      deviceNodes:\n        - path: /dev/dri/card0\n  - name: \"1\"\n": {"amd.com/gpu", 2},
		`{"cdiVersion":"0.6.0","kind":"amd.com/gpu","devices":[{"name":"0"},{"name":"1"},{"name":"all"}]}`:                                             {"amd.com/gpu", 3},
		"": {}, "devices: []\n": {}, "- - -\n": {},
	} {
		if kind, devices := parseCDI(text); kind != want.kind || devices != want.devices {
			t.Errorf("%q: %q %d", text, kind, devices)
		}
	}
}

// TestProbe: what the engine says of itself goes before what a tool prints, and every tool that is not there says so.
func TestProbe(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"etc/cdi/nvidia.yaml": cdiYAML, "etc/cdi/notes.txt": "x", "etc/cdi/bad.json": "{"} {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	answers := map[string]string{
		"docker version --format json": `{"Version":"29.2.1","Components":[{"Name":"containerd","Version":"v2.2.1"}]}`, "docker info --format json": `{"Driver":"overlayfs","Runtimes":{"runc":{}}}`,
		"containerd --version": "containerd x v1.7.0 abc", "runc --version": "runc version 1.3.4", "podman --version": "",
	}
	h := host.Host{Root: dir, Exec: func(_ context.Context, argv ...string) (host.Output, error) {
		if text, ok := answers[strings.Join(argv, " ")]; ok {
			return host.Output{Stdout: []byte(text)}, nil
		}
		return host.Output{}, host.ErrNotFound
	}}
	var s sut.SUT
	if err := Probe(t.Context(), h, &s); err != nil {
		t.Fatal(err)
	}
	w := s.Software
	if w.Docker.Value != "29.2.1" || w.Containerd.Value != "v2.2.1" || w.Runc.Value != "1.3.4" || w.Runc.Source != "runc --version" || w.Podman.Unknown != "podman --version prints no version" || w.AMDContainerToolkit.Unknown == "" || w.Engine.StorageDriver.Value != "overlayfs" {
		t.Errorf("%+v", w)
	}
	if len(w.CDI.Items) != 2 || w.CDI.Items[0].Kind.Unknown == "" || w.CDI.Items[1].Kind.Value != "nvidia.com/gpu" || w.CDI.Items[1].Devices.Value != 2 {
		t.Errorf("%+v", w.CDI)
	}
	var none sut.SUT
	if err := Probe(t.Context(), host.Host{Root: t.TempDir()}, &none); err != nil || none.Software.Docker.Unknown == "" || none.Software.Engine.Rootless.Unknown == "" || none.Software.CDI.Unknown == "" {
		t.Errorf("%v %+v", err, none.Software)
	}
}

func FuzzAnswers(f *testing.F) {
	f.Add([]byte(`{"Version":"29.2.1","Components":[{"Name":"containerd","Version":"2.2"}]}`))
	f.Add([]byte(`{"Driver":"overlay2","Runtimes":{"runc":{}}}`))
	f.Add([]byte(cdiYAML))
	f.Fuzz(func(t *testing.T, b []byte) {
		if engine, _, _ := parseDockerVersion(b, "x"); engine.IsKnown() && engine.Value == "" {
			t.Error("a version of nothing")
		}
		if e := parseInfo(b, "x"); e.StorageDriver.IsKnown() && e.StorageDriver.Value == "" {
			t.Error("a driver of nothing")
		}
		if _, devices := parseCDI(string(b)); devices < 0 {
			t.Error(devices)
		}
		parseVersion(string(b))
	})
}

// TestSocketOfTheEngine: the engine is asked where it was found.
func TestSocketOfTheEngine(t *testing.T) {
	for found, want := range map[string]string{"": "/var/run/docker.sock", "/run/user/7/podman/podman.sock": "/run/user/7/podman/podman.sock"} {
		var asked []string
		h := host.Host{Root: t.TempDir(), Engine: found, Get: func(_ context.Context, socket, question string) ([]byte, error) {
			asked = append(asked, socket+question)
			return []byte(`{"Version":"4.3.1","Driver":"overlay"}`), nil
		}}
		if engine, _, _ := readDocker(t.Context(), h); engine.Value != "4.3.1" || !readInfo(t.Context(), h).StorageDriver.IsKnown() {
			t.Errorf("%s: %+v", found, engine)
		}
		if diff := cmp.Diff([]string{want + "/version", want + "/info"}, asked); diff != "" {
			t.Error(diff)
		}
	}
}
