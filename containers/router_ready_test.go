package containers

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"assay/containers/endpoint"
	"assay/containers/enginetest"
	"assay/containers/instancetest"
	"assay/plan"
)

// registering is a router that passes requests on as soon as one of its servers is healthy, and tells of as many as the n-th question is given.
func registering(t *testing.T, healthy ...int) (at endpoint.Servers, asked *atomic.Int64) {
	t.Helper()
	asked = &atomic.Int64{}
	mux := http.NewServeMux()
	mux.Handle("/", enginetest.Handler("m"))
	mux.HandleFunc("GET /readiness", func(w http.ResponseWriter, _ *http.Request) {
		n := int(asked.Add(1)) - 1
		fmt.Fprintf(w, `{"status":"ready","healthy_workers":%d}`, healthy[min(n, len(healthy)-1)])
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return endpoint.Servers{s.URL}, asked
}

// TestRouterKnowsItsServers: a token flows by way of a router that knows one of two servers, and all the load would go there.
func TestRouterKnowsItsServers(t *testing.T) {
	for _, kind := range []string{"sglang-router", "vllm-router"} {
		r, opt := plan.Router{Kind: kind}, ReadyOptions{Timeout: time.Minute, Model: "m"}
		inst, asked := registering(t, 0, 1, 1, 2)
		id, err := RouterReady(t.Context(), inst, r, 2, instancetest.Preset(t, "vllm"), opt)
		if err != nil || asked.Load() < 4 || id.Version != "" || id.VersionUnknown != "it was not started here" {
			t.Errorf("%s: after %d questions: %+v, %v", kind, asked.Load(), id, err)
		}
		opt.Timeout = 4 * time.Second // in which a busy machine gets as far as the question
		inst, _ = registering(t, 1)
		_, err = RouterReady(t.Context(), inst, r, 2, instancetest.Preset(t, "vllm"), opt)
		enginetest.WantFault(t, err, "router.not_ready", kind, "1 of 2 servers")
	}
	inst, asked := registering(t, 0)
	if _, err := RouterReady(t.Context(), inst, plan.Router{Kind: "nginx"}, 2, instancetest.Preset(t, "vllm"), ReadyOptions{Timeout: time.Minute, Model: "m"}); err != nil || asked.Load() > 0 {
		t.Errorf("nginx is asked for its servers %d times: %v", asked.Load(), err)
	}
}
