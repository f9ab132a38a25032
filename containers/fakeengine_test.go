package containers

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/containers/enginetest"
	"assay/containers/gpu"
)

// fakeEngine serves a handler at a socket, for faults that a healthy engine does not have.
func fakeEngine(t *testing.T, h http.Handler) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "assay") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "docker.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(h)
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	return path
}

// pullingEngine answers a pull with a stream, and then has an image with these digests.
func pullingEngine(stream string, digests ...string) http.Handler {
	pulled := false
	mux := http.NewServeMux()
	mux.HandleFunc("/_ping", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Api-Version", "1.41") })
	mux.HandleFunc("/v1.41/version", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"Arch":"amd64"}`) })
	mux.HandleFunc("POST /v1.41/images/create", func(w http.ResponseWriter, _ *http.Request) {
		pulled = true
		fmt.Fprint(w, stream)
	})
	mux.HandleFunc("GET /v1.41/images/", func(w http.ResponseWriter, _ *http.Request) {
		if !pulled || len(digests) == 0 {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"message":"No such image"}`)
			return
		}
		fmt.Fprintf(w, `{"Id":"sha256:1","Architecture":"amd64","RepoDigests":["%s"]}`, strings.Join(digests, `","`))
	})
	return mux
}

func TestPullFaults(t *testing.T) {
	image := "registry.test/lab/engine@" + digest
	other := "registry.test/lab/engine@sha256:" + strings.Repeat("ff", 32)
	for _, c := range []struct {
		name    string
		h       http.Handler
		code    string
		message string
	}{
		{"good", pullingEngine(`{"status":"ok"}`, other, image), "", ""},
		{"disk full in mid-stream", pullingEngine(`{"status":"Extracting"}{"errorDetail":{"message":"write /x: no space left on device"}}`), "image.disk_full", "no space left"},
		{"layer refused", pullingEngine(`{"errorDetail":{"message":"unauthorized: authentication required"}}`), "image.unauthorized", "authentication"},
		{"manifest gone", pullingEngine(`{"error":"manifest unknown"}`), "image.not_found", "manifest unknown"},
		{"layer broken", pullingEngine(`{"errorDetail":{"message":"received unexpected HTTP status: 500"}}`), "image.pull_failed", "500"},
		{"stream cut", pullingEngine(`{"status":"Down`), "image.pull_failed", ""},
		{"nothing stored", pullingEngine(`{"status":"ok"}`), "image.not_stored", ""},
		{"something else stored", pullingEngine(`{"status":"ok"}`, other), "image.digest_mismatch", "ffff"},
		{"same digest of another repository", pullingEngine(`{"status":"ok"}`, "registry.test/other/engine@"+digest), "image.digest_mismatch", "other"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := docker{fakeEngine(t, c.h)}
			err := d.Prepare(t.Context(), Spec{Role: "server", Image: image}, func(Pull) {})
			if c.code == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			enginetest.WantFault(t, err, c.code, c.message)
		})
	}
}

func TestContainerConfig(t *testing.T) {
	s := Spec{Owner: "owner1", Run: "run1", Role: "server", Image: "engine@" + digest, Argv: []string{"python3"}, Args: []string{"--port", "8000"},
		Env: map[string]string{"B": "2", "A": "1"}, Mounts: []Mount{{Source: "/m", Target: "/model"}, {Source: "/c", Target: "/cache", Writable: true}},
		ShmBytes: 1 << 30, Port: 8000, HostPort: 30000}
	type both struct{ Config, Host any }
	got := map[string]both{}
	add := func(name string, s Spec, g gpu.Access) {
		cfg, host := containerConfig(s, g)
		got[name] = both{cfg, host}
	}
	add("bridge", s, gpu.Access{})
	add("amd", s, gpu.Access{Devices: []string{"/dev/kfd", "/dev/dri/renderD128"}, Groups: []string{"109", "44"}})
	s.HostNet = true
	nvidia, err := gpu.Find(nvidiaTree(t), "0,2")
	if err != nil {
		t.Fatal(err)
	}
	add("host network, nvidia", s, nvidia)
	enginetest.GoldenJSON(t, "container_configs.json", got)
}

// tree makes a root folder of files (content "") and links (content "-> target").
func tree(t *testing.T, entries map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for path, content := range entries {
		p := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if to, link := strings.CutPrefix(content, "-> "); link {
			err = os.Symlink(to, p)
		} else {
			err = os.WriteFile(p, nil, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func nvidiaTree(t *testing.T) string {
	return tree(t, map[string]string{"dev/nvidiactl": "", "dev/nvidia0": ""})
}

// amdTree has ten GPUs, the numbers of whose nodes do not sort as text, and the board's own graphics.
func amdTree(t *testing.T) string {
	entries := map[string]string{"dev/kfd": "", "dev/dri/card0": "", "dev/dri/renderD128": "", "sys/class/drm/renderD128/device/driver": "-> ../../bus/pci/drivers/ast"}
	for i := 992; i < 1002; i++ {
		node := fmt.Sprintf("renderD%d", i)
		entries["dev/dri/"+node], entries["sys/class/drm/"+node+"/device/driver"] = "", "-> ../../bus/pci/drivers/amdgpu"
	}
	return tree(t, entries)
}

func TestFindGPUs(t *testing.T) {
	amd := amdTree(t)
	a, err := gpu.Find(amd, "all")
	if err != nil || len(a.Devices) != 11 || a.Devices[0] != "/dev/kfd" || a.Devices[1] != "/dev/dri/renderD992" || a.Devices[10] != "/dev/dri/renderD1001" || len(a.Groups) != 1 {
		t.Errorf("all: %+v, %v", a, err)
	}
	a, err = gpu.Find(amd, "9, 0")
	if err != nil || strings.Join(a.Devices, " ") != "/dev/kfd /dev/dri/renderD1001 /dev/dri/renderD992" {
		t.Errorf("two: %+v, %v", a, err)
	}
	n, err := gpu.Find(nvidiaTree(t), "all")
	if err != nil || len(n.Requests) != 1 || n.Requests[0].Count != -1 || len(n.Devices) != 0 {
		t.Errorf("nvidia: %+v, %v", n, err)
	}
	for _, none := range []string{"", "none"} {
		if a, err := gpu.Find(amd, none); err != nil || len(a.Devices) > 0 {
			t.Errorf("%q: %+v, %v", none, a, err)
		}
	}
	empty := t.TempDir()
	if a, err := gpu.Find(empty, "all"); err != nil || len(a.Devices)+len(a.Requests) > 0 {
		t.Errorf("all of none: %+v, %v", a, err)
	}
	_, err = gpu.Find(empty, "0")
	enginetest.WantFault(t, err, "server.no_gpu")
	_, err = gpu.Find(amd, "10")
	enginetest.WantFault(t, err, "server.no_gpu", "GPU 10", "10")
	_, err = gpu.Find(amd, "first")
	enginetest.WantFault(t, err, "plan.gpus_invalid", "first")
}
