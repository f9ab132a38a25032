package docker

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/docker/docker/client"
	"github.com/google/go-cmp/cmp"

	"assay/containers/instance"
)

// TestInspected: what an engine says of a container's end that its exit code does not.
func TestInspected(t *testing.T) {
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"Id": "c", "RestartCount": 2, "State": {"Status": "exited", "OOMKilled": true, "Error": "no room"}}`))
	}))
	t.Cleanup(engine.Close)
	c, err := client.NewClientWithOpts(client.WithHost("tcp://" + engine.Listener.Addr().String()))
	if err != nil {
		t.Fatal(err)
	}
	b := &box{client: c, id: "c", identity: instance.Identity{Name: "assay-1-server"}}
	want := instance.Exit{Name: "assay-1-server", Code: 137, Signal: "SIGKILL", OOM: true, Restarts: 2, Reason: "was killed for want of memory", Error: "no room"}
	if diff := cmp.Diff(want, b.inspected(t.Context(), 137)); diff != "" {
		t.Error(diff)
	}
}
