package docker

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"assay/containers/enginetest"
	"assay/containers/image"
	"assay/containers/instance"
	"assay/containers/leftover"
	"assay/containers/socket"
)

func TestDockerUnreachable(t *testing.T) {
	missing := Runtime{At: socket.At(filepath.Join(t.TempDir(), "none.sock"))}
	s := instance.Spec{Role: "server", Image: "x@" + digest}
	_, err := missing.Prepare(t.Context(), s, func(image.Progress) {})
	enginetest.WantFault(t, err, "server.docker_unreachable", missing.path())
	s.Mounts = []instance.Mount{{Source: "/no/such/folder", Target: "/x"}}
	_, err = missing.Prepare(t.Context(), s, func(image.Progress) {})
	enginetest.WantFault(t, err, "preflight.mount_missing", "/no/such/folder") // whatever the engine would say
	s.Mounts, s.HostPort, s.Dir = nil, 0, t.TempDir()
	_, err = missing.Start(t.Context(), s)
	enginetest.WantFault(t, err, "server.docker_unreachable")
	if f := missing.Reap(t.Context(), leftover.Search{Owner: "o"}); f.Failed != nil || len(f.Removed) > 0 {
		t.Errorf("reap without an engine: %+v", f)
	}
	refused := Runtime{At: socket.Find(socket.Search{Asked: "ssh://me@box", Env: os.Getenv, Dial: socket.Listens})}
	_, err = refused.Prepare(t.Context(), s, func(image.Progress) {})
	enginetest.WantFault(t, err, "server.docker_remote", "ssh://me@box")
	if f := refused.Reap(t.Context(), leftover.Search{Owner: "o"}); f.Failed != nil || len(f.Removed) > 0 {
		t.Errorf("reap at an engine that is not used: %+v", f)
	}
	missing.At.Looked = []string{"/run/podman/podman.sock"}
	_, err = missing.Prepare(t.Context(), s, func(image.Progress) {})
	enginetest.WantFault(t, err, "server.docker_unreachable", "nor at /run/podman/podman.sock")
}

// Something else than an engine at the socket.
func TestDockerIsNoDocker(t *testing.T) {
	d := Runtime{At: socket.At(enginetest.Socket(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })))}
	_, err := d.Prepare(t.Context(), instance.Spec{Role: "server", Image: "x@" + digest}, func(image.Progress) {})
	enginetest.WantFault(t, err, "server.docker_unreachable")
	if d.Reap(t.Context(), leftover.Search{Owner: "o"}).Failed == nil {
		t.Error("reaping at a broken engine is no error")
	}
}
