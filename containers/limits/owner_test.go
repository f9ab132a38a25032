package limits

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/docker/docker/client"
)

// TestAskARootlessEngine: podman 4.3 runs as a user and does not say so; its socket does.
func TestAskARootlessEngine(t *testing.T) {
	dir, err := os.MkdirTemp("", "assay") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	socket := filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	engine := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") })}}
	engine.Start()
	defer engine.Close()
	if os.Geteuid() == 0 {
		if err := os.Chown(socket, 1000, 1000); err != nil {
			t.Skipf("this machine maps no other user: %v", err)
		}
	}
	c, err := client.NewClientWithOpts(client.WithHost("unix://" + socket))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if e, err := Ask(t.Context(), c, "/", socket); err != nil || e.Mapped != "rootless" || e.Remote {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestOwnerOfTheSocket(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "podman.sock")
	if err := os.WriteFile(socket, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := ownedByUser(socket); got != (os.Geteuid() != 0) {
		t.Errorf("a socket of this user: %v", got)
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(socket, 1000, 1000); err != nil {
			t.Skipf("this machine maps no other user: %v", err)
		}
		if !ownedByUser(socket) {
			t.Error("a socket of another user than root is taken for root's")
		}
	}
	if ownedByUser("") || ownedByUser(socket+".none") {
		t.Error("no socket has an owner")
	}
}
