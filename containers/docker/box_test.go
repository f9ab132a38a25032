package docker

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/docker/docker/client"
	"github.com/google/go-cmp/cmp"

	"assay/containers/instance"
)

// TestInspected: what an engine says of a container's end that its exit code does not.
func TestInspected(t *testing.T) {
	b := boxOf(t, `{"Id": "c", "RestartCount": 2, "State": {"Status": "exited", "OOMKilled": true, "Error": "no room"}}`)
	want := instance.Exit{Name: "assay-1-server", Code: 137, Signal: "SIGKILL", OOM: true, Restarts: 2, Reason: "was killed for want of memory", Error: "no room"}
	if diff := cmp.Diff(want, b.inspected(t.Context(), 137)); diff != "" {
		t.Error(diff)
	}
}

// Docker 20.10 answers who waits for a container with 0 when it has started it again meanwhile; its event has the code.
func TestStartedAgainMeanwhile(t *testing.T) {
	b := boxOf(t, `{"Id": "c", "RestartCount": 1, "State": {"Status": "running", "Running": true}}`)
	if e := b.inspected(t.Context(), 0); e.Code != instance.KilledCode || e.Restarts != 1 {
		t.Errorf("%+v", e)
	}
}

// boxOf is a container of an engine that describes it so, and that it died of SIGKILL.
func boxOf(t *testing.T, described string) *box {
	t.Helper()
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/events") {
			_, _ = w.Write([]byte(`{"Type": "container", "Action": "die", "Actor": {"ID": "c", "Attributes": {"exitCode": "137"}}}`))
			return
		}
		_, _ = w.Write([]byte(described))
	}))
	t.Cleanup(engine.Close)
	c, err := client.NewClientWithOpts(client.WithHost("tcp://" + engine.Listener.Addr().String()))
	if err != nil {
		t.Fatal(err)
	}
	return &box{client: c, id: "c", identity: instance.Identity{Name: "assay-1-server"}}
}
