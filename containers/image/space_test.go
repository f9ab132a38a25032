package image

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/docker/docker/client"

	"assay/containers/enginetest"
)

// TestSpaceOfAnotherMachine: the folder of an engine elsewhere is not looked for on this machine's disk.
func TestSpaceOfAnotherMachine(t *testing.T) {
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/version") {
			fmt.Fprint(w, `{"Os":"linux","Arch":"amd64"}`)
			return
		}
		fmt.Fprint(w, `{"DockerRootDir":"/","Driver":"overlay2"}`)
	})
	remote := httptest.NewServer(h)
	defer remote.Close()
	const huge = 1 << 50
	for host, full := range map[string]bool{"unix://" + enginetest.Socket(t, h): true, "tcp://" + remote.Listener.Addr().String(): false} {
		c, err := client.NewClientWithOpts(client.WithHost(host))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		e, err := engineOf(t.Context(), c)
		if err != nil || e.store != "overlay2" || e.arch != "amd64" {
			t.Fatalf("%+v, %v", e, err)
		}
		if err := e.enough("m", huge); full {
			enginetest.WantFault(t, err, "image.disk_full")
		} else if err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
}
