package docker

import (
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"testing"

	"assay/containers/enginetest"
	"assay/containers/imagetest"
	"assay/containers/socket"
)

// Here is the runtime of the engine that the tests use.
func Here() Runtime { return Runtime{At: socket.At(imagetest.Socket())} }

const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// Broken is the engine at a socket, in which some requests fail.
func Broken(t *testing.T, socket string, fails func(*http.Request) bool) (path string) {
	t.Helper()
	return Before(t, socket, func(w http.ResponseWriter, r *http.Request) bool {
		if !fails(r) {
			return false
		}
		http.Error(w, `{"message":"device or resource busy"}`, http.StatusInternalServerError)
		return true
	})
}

// Before passes requests on to a socket, but for those that are answered here.
func Before(t *testing.T, socket string, answers func(http.ResponseWriter, *http.Request) bool) (path string) {
	t.Helper()
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "docker"})
	proxy.Transport = &http.Transport{Dial: func(string, string) (net.Conn, error) { return net.Dial("unix", socket) }}
	return enginetest.Socket(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !answers(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
}
