package containers

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"assay/containers/docker"
	"assay/containers/endpoint"
	"assay/containers/imagetest"
	"assay/containers/instancetest"
	"assay/containers/socket"
	"assay/plan"
)

// TestMain lets the test binary play the server that a test starts.
func TestMain(m *testing.M) { instancetest.Main(m, map[string]func() int{"hold": holdStreams}) }

// here is the runtime of the engine that the tests use.
func here() docker.Runtime { return docker.Runtime{At: socket.At(imagetest.Socket())} }

// oneSpec is what to start for a plan of one server.
func oneSpec(p plan.Plan, opt SpecOptions) (Spec, Preset, error) {
	specs, preset, err := ServerSpecs(p, opt)
	if err != nil {
		return Spec{}, preset, err
	}
	return specs[0], preset, nil
}

// servedBy is a test server as an instance of runtime endpoint.
func servedBy(t *testing.T, h http.Handler) Instance {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return endpoint.Servers{s.URL}
}
