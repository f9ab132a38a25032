package containers

import (
	"net/http"
	"strings"
	"testing"

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
		resp, err := secureTransport{inMemory{enginetest.Status(200, "")}}.RoundTrip(r)
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
	for code, want := range map[int]string{401: "image.unauthorized", 403: "image.unauthorized", 500: "image.registry_failed"} {
		inst := servedBy(t, enginetest.Status(code, "{}"))
		_, err := ResolveDigest(t.Context(), strings.TrimPrefix(inst.BaseURLs()[0], "http://")+"/lab/engine:latest")
		enginetest.WantFault(t, err, want)
	}
}
