package telemetry

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/containers"
)

// TestSeveralServers: their figures are summed, and each one's own stand beside the sum; one alone is the engine. Where one
// does not answer there is no sum.
func TestSeveralServers(t *testing.T) {
	preset, err := containers.PresetNamed("vllm")
	if err != nil {
		t.Fatal(err)
	}
	var urls []string
	for _, running := range []int{3, 0} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, "# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running %d\n", running)
		}))
		t.Cleanup(srv.Close)
		urls = append(urls, srv.URL)
	}
	broken := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(broken.Close)
	for _, c := range []struct {
		urls   []string
		want   map[string]float64
		failed bool
	}{
		{urls[:1], map[string]float64{"engine.running": 3}, false},
		{urls, map[string]float64{"engine.running": 3, "server0.running": 3, "server1.running": 0}, false},
		{[]string{broken.URL, urls[0]}, map[string]float64{"server1.running": 3}, true},
		{[]string{broken.URL}, map[string]float64{}, true},
	} {
		told, err := Engine{BaseURLs: c.urls, Preset: preset}.Sample(t.Context())
		if (err != nil) != c.failed {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, s := range told {
			got[s.Series] = s.Value
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Error(d)
		}
	}
}
