package image

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"assay/containers/enginetest"
	"assay/containers/imagetest"
)

func TestResolveDigest(t *testing.T) {
	host := imagetest.Registry(t)
	ref := imagetest.Push(t, host, "lab/engine", imagetest.ForeignImage(t))
	for _, name := range []string{host + "/lab/engine:latest", host + "/lab/engine", ref} {
		got, err := ResolveDigest(t.Context(), name)
		if err != nil || got != ref {
			t.Errorf("ResolveDigest(%s) = %s, %v, want %s", name, got, err, ref)
		}
	}
	_, err := ResolveDigest(t.Context(), host+"/lab/engine:none")
	enginetest.WantFault(t, err, "image.not_found", "lab/engine:none")
	_, err = ResolveDigest(t.Context(), "UPPER CASE")
	enginetest.WantFault(t, err, "image.invalid")
	_, err = ResolveDigest(t.Context(), "127.0.0.1:1/lab/engine:latest")
	enginetest.WantFault(t, err, "image.registry_unreachable")
}

// answering answers every request, without a network.
type answering struct{}

func (answering) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}

// serve serves a handler on the loopback and gives its host:port.
func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// Registries of private networks are asked in plain HTTP by the library; anyone between could answer.
func TestResolveDigestRefusesPlainHTTP(t *testing.T) {
	for url, allowed := range map[string]bool{
		"http://10.0.0.1:5000/v2/":    false,
		"http://registry.local/v2/":   false,
		"http://127.0.0.1.evil.test/": false,
		"http://127.0.0.1:5000/v2/":   true,
		"http://[::1]:5000/v2/":       true,
		"http://localhost:5000/v2/":   true,
		"https://registry.test/v2/":   true,
	} {
		r, err := http.NewRequest(http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := secureTransport{answering{}}.RoundTrip(r)
		if (err == nil) != allowed {
			t.Errorf("%s: %v", url, err)
		}
		if resp != nil {
			resp.Body.Close()
		}
	}
	_, err := ResolveDigest(t.Context(), "10.255.255.1:5000/lab/engine:latest")
	enginetest.WantFault(t, err, "image.insecure_registry", "loopback")
}

func TestResolveDigestRefusals(t *testing.T) {
	for code, want := range map[int]string{401: "image.unauthorized", 403: "image.unauthorized", 404: "image.not_found", 407: "image.proxy", 429: "image.rate_limited", 500: "image.registry_failed"} {
		_, err := ResolveDigest(t.Context(), serve(t, enginetest.Status(code, "{}"))+"/lab/engine:latest")
		enginetest.WantFault(t, err, want)
	}
}

// TestARegistryThatSaysNothing: it takes the question and keeps it.
func TestARegistryThatSaysNothing(t *testing.T) {
	r := newRegistry(t)
	r.failing(func(_ http.ResponseWriter, req *http.Request) bool {
		<-req.Context().Done()
		return true
	})
	_, err := resolve(t.Context(), r.host+"/lab/engine:1", time.Millisecond)
	enginetest.WantFault(t, err, "image.registry_unreachable", "lab/engine:1")
}
