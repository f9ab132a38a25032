package main

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"

	"assay/containers/imagetest"
	"assay/result"
)

// dockerPlan is simPlan in a container of an engine without a bridge, long enough for something to happen while it measures.
func dockerPlan(image, duration string) string {
	p := strings.Replace(simPlan(", network: host, image: '"+image+"'"), "runtime: process", "runtime: docker", 1)
	return strings.Replace(p, "duration: 1s", "duration: "+duration, 1)
}

// simImage is this program's simulated engine as an image.
func simImage(t testing.TB, p testProgram, host string) string {
	return imagetest.Push(t, host, "assay/self", imagetest.Image(t, imagetest.Files{"/assay": p.bin}, "/assay", "sim"))
}

// dockerAt runs the engine's command line.
func dockerAt(socket string, args ...string) *exec.Cmd {
	return exec.Command("docker", append([]string{"--host", "unix://" + socket}, args...)...)
}

// noContainers: the engine has none.
func noContainers(t *testing.T, socket string) {
	t.Helper()
	if b, err := dockerAt(socket, "ps", "--all", "--quiet").CombinedOutput(); err != nil || len(b) > 0 {
		t.Errorf("containers are left: %s, %v", b, err)
	}
}

// TestMishapsWhileMeasuring: what happens to the server or its engine while a point is measured ends the run with its name, leaves nothing,
// and the daemon executes the next run.
func TestMishapsWhileMeasuring(t *testing.T) {
	t.Parallel()
	own := imagetest.StartEngine(t, 0)
	p := newProgram(t)
	image := simImage(t, p, imagetest.Registry(t))
	d := p.serve("--docker-host", "unix://"+own.Socket, "--config", allowHostNetwork(t))
	for _, c := range []struct {
		name  string
		does  func(container string)
		code  string
		words []string
	}{
		{"the container is killed", func(name string) { _ = dockerAt(own.Socket, "kill", name).Run() }, "server.exited", []string{"signal 9"}},
		{"the container is removed", func(name string) { _ = dockerAt(own.Socket, "rm", "--force", name).Run() }, "server.exited", []string{"the server was"}},
		{"the engine is killed", func(string) { own.End(syscall.SIGKILL); own.Start() }, "server.engine_restarted", []string{"the container engine was restarted"}},
		{"the engine is restarted", func(string) { own.End(syscall.SIGTERM); own.Start() }, "server.engine_restarted", []string{"the container engine was restarted"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			id := d.submit(dockerPlan(image, "60s"))
			d.follow(id, func(e result.Event) bool { return e.Kind == result.Progressed && e.Point == "c1" })
			if said := p.must(exitValid, "status").stdout; !strings.Contains(said, "started for run "+id+": assay-"+id+"-server") {
				t.Errorf("status does not name the container:\n%s", said)
			}
			c.does("assay-" + id + "-server")
			d.follow(id, ended)
			doc := readDoc(t, d, id)
			if doc.Run.State != result.Failed || doc.Run.Error == nil || doc.Run.Error.Code != c.code {
				t.Fatalf("%s: %v", doc.Run.State, doc.Run.Error)
			}
			for _, w := range c.words {
				if !strings.Contains(doc.Run.Error.Text, w) {
					t.Errorf("%q is not in %s", w, doc.Run.Error.Text)
				}
			}
			if c.code == "server.exited" && (!strings.Contains(doc.Run.Error.Hint, "a person or a clean-up job") || strings.Contains(doc.Run.Error.Hint, "dmesg")) {
				t.Errorf("hint %s", doc.Run.Error.Hint)
			}
			noContainers(t, own.Socket)
			if left := marked(p.data); len(left) != 1 {
				t.Errorf("want the daemon alone, found %v", left)
			}
		})
	}
	id := d.submit(dockerPlan(image, "1s"))
	d.follow(id, ended)
	if doc := readDoc(t, d, id); doc.Run.State != result.Done {
		t.Errorf("the next run is %s: %v", doc.Run.State, doc.Run.Error)
	}
	noContainers(t, own.Socket)
}

// TestEngineStaysAway: the run ends as soon as the engine counts as gone, says so, and what could not be removed is removed when the engine is
// back, which the result then tells.
func TestEngineStaysAway(t *testing.T) {
	t.Parallel()
	own := imagetest.StartEngine(t, 0)
	p := newProgram(t)
	image := simImage(t, p, imagetest.Registry(t))
	d := p.serve("--docker-host", "unix://"+own.Socket, "--config", allowHostNetwork(t))
	id := d.submit(dockerPlan(image, "90s"))
	d.follow(id, func(e result.Event) bool { return e.Kind == result.Progressed && e.Point == "c1" })
	own.End(syscall.SIGKILL)
	d.follow(id, ended)
	doc := readDoc(t, d, id)
	if doc.Run.Error == nil || doc.Run.Error.Code != "server.docker_unreachable" || doc.Points[0].Reasons[0].Code != "server.docker_unreachable" {
		t.Errorf("%v, %+v", doc.Run.Error, doc.Points)
	}
	if len(doc.Stops) != 1 || doc.Stops[0].How != result.StopStuck || doc.Stops[0].Error.Code != "server.docker_unreachable" {
		t.Errorf("stops %+v", doc.Stops)
	}
	if said := p.must(exitValid, "status").stdout; !strings.Contains(said, "assay-"+id+"-server") {
		t.Errorf("status does not name what may be left:\n%s", said)
	}
	own.Start()
	next := d.submit(dockerPlan(image, "1s"))
	d.follow(next, ended)
	if doc := readDoc(t, d, next); doc.Run.State != result.Done {
		t.Errorf("the next run is %s: %v", doc.Run.State, doc.Run.Error)
	}
	notes := strings.Join(readDoc(t, d, id).Identity.Notes, "\n")
	if !strings.Contains(notes, "it could not be stopped when its run ended (server.docker_unreachable)") || strings.Contains(notes, "the program was killed") {
		t.Errorf("notes %s", notes)
	}
	noContainers(t, own.Socket)
}

// dyingRegistry is a registry whose layers break off in the middle while it is ill.
func dyingRegistry(t *testing.T) (host string, ill *atomic.Bool) {
	ill = new(atomic.Bool)
	inner := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ill.Load() && r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/") {
			w.Header().Set("Content-Length", "1000000")
			_, _ = w.Write(make([]byte, 10_000))
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://"), ill
}

// TestRegistryDiesInALayer: the run ends with the registry's fault and the exit code of the infrastructure, nothing is left, and when the
// registry is well again the same plan runs.
func TestRegistryDiesInALayer(t *testing.T) {
	t.Parallel()
	socket := imagetest.Engine(t, 0, "--max-download-attempts=1")
	p := newProgram(t)
	host, ill := dyingRegistry(t)
	plan := writePlan(t, dockerPlan(simImage(t, p, host), "1s"))
	ill.Store(true)
	r := p.must(exitInfra, "run", plan, "--docker-host", "unix://"+socket, "--json")
	if doc := r.result(t); doc.Run.State != result.Failed || doc.Run.Error.Code != "image.registry_unreachable" {
		t.Errorf("%s: %v", doc.Run.State, doc.Run.Error)
	}
	noContainers(t, socket)
	if b, err := dockerAt(socket, "images", "--quiet").CombinedOutput(); err != nil || len(b) > 0 {
		t.Errorf("images are left: %s, %v", b, err)
	}
	ill.Store(false)
	p.must(exitValid, "run", plan, "--docker-host", "unix://"+socket)
	noContainers(t, socket)
}

// TestDiskFullInAPull: the engine's disk is too small for the image.
func TestDiskFullInAPull(t *testing.T) {
	t.Parallel()
	socket := imagetest.Engine(t, 24)
	p := newProgram(t)
	r := p.must(exitInfra, "run", writePlan(t, dockerPlan(simImage(t, p, imagetest.Registry(t)), "1s")), "--docker-host", "unix://"+socket, "--json")
	if doc := r.result(t); doc.Run.State != result.Failed || doc.Run.Error.Code != "image.disk_full" {
		t.Errorf("%s: %v", doc.Run.State, doc.Run.Error)
	}
	noContainers(t, socket)
	if b, err := dockerAt(socket, "images", "--quiet").CombinedOutput(); err != nil || len(b) > 0 {
		t.Errorf("images are left: %s, %v", b, err)
	}
}

// TestDataDiskFillsWhileMeasuring: somebody else fills the daemon's disk while a point is measured. Nothing runs on; as soon as there is room
// the run ends with the store's fault, and the daemon executes the next one.
func TestDataDiskFillsWhileMeasuring(t *testing.T) {
	t.Parallel()
	own := imagetest.StartEngine(t, 0)
	p := newProgram(t)
	image := simImage(t, p, imagetest.Registry(t))
	p.data = t.TempDir()
	if err := syscall.Mount("tmpfs", p.data, "tmpfs", 0, "size=8m"); err != nil {
		skipOrFail(t, "a small file system cannot be mounted here: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(p.data, syscall.MNT_DETACH) })
	d := p.serve("--docker-host", "unix://"+own.Socket, "--config", allowHostNetwork(t))
	id := d.submit(dockerPlan(image, "3s"))
	d.follow(id, func(e result.Event) bool { return e.Kind == result.Progressed && e.Point == "c1" })
	fill := filepath.Join(p.data, "others")
	if err := exec.Command("dd", "if=/dev/zero", "of="+fill, "bs=4k", "count=1M").Run(); err == nil {
		t.Fatal("the disk is not full")
	}
	await(t, "the end of what was started", func() bool {
		b, err := dockerAt(own.Socket, "ps", "--all", "--quiet").Output()
		return err == nil && len(b) == 0
	})
	if err := exec.Command("rm", fill).Run(); err != nil {
		t.Fatal(err)
	}
	d.follow(id, ended) // as soon as it can be written down
	next := d.submit(dockerPlan(image, "1s"))
	d.follow(next, ended)
	if doc := readDoc(t, d, next); doc.Run.State != result.Done {
		t.Errorf("the next run is %s: %v", doc.Run.State, doc.Run.Error)
	}
	if doc := readDoc(t, d, id); doc.Run.State == result.Done || doc.Run.Error == nil || !strings.HasPrefix(doc.Run.Error.Code, "store.") {
		t.Errorf("the run is %s: %v", doc.Run.State, doc.Run.Error)
	}
}

// await looks until something is so.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	late := time.After(limit)
	for !is() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("there is no %s", what)
		}
	}
}
