// Package enginetest is a small inference server, captures of real ones, and the checks that tests of engines and of their runtimes
// share. Only tests import it.
package enginetest

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/fault"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Handler is a healthy server of one model.
func Handler(model string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"version":"1.2.3"}`) })
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"data":[{"id":%q,"max_model_len":2048}]}`, model)
	})
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":null}}]}\n\n", "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\n", "data: [DONE]\n\n")
	})
	return mux
}

// Status answers everything with a status and a body.
func Status(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		fmt.Fprint(w, body)
	}
}

// Socket serves a handler at a Unix socket until the test ends and gives its path, for faults that a healthy container engine does not have.
func Socket(t testing.TB, h http.Handler) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "assay") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "docker.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(h)
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	return path
}

// Golden compares with a file, or writes it.
func Golden(t testing.TB, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s (-want +got):\n%s", name, d)
	}
}

// GoldenJSON is Golden for a value.
func GoldenJSON(t testing.TB, name string, v any) {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	Golden(t, name, b.Bytes())
}

// WantFault checks code and the words of an error.
func WantFault(t testing.TB, err error, code string, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %s", code)
	}
	f := fault.Of(err, fault.Server)
	if f.Code != code {
		t.Fatalf("code %s, want %s: %v", f.Code, code, err)
	}
	if f.Hint == "" {
		t.Errorf("%s has no hint", code)
	}
	for _, w := range words {
		if !strings.Contains(f.Text, w) {
			t.Errorf("%q is not in %q", w, f.Text)
		}
	}
}

// Capture reads a capture of a real server; without the captures the test is skipped.
func Capture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(captures(t), name))
	if err != nil {
		t.Skipf("no captures of engines: %v", err)
	}
	return b
}

// CaptureBody is the body of a captured answer without chunk framing.
func CaptureBody(t testing.TB, name string) []byte {
	t.Helper()
	_, body, ok := bytes.Cut(Capture(t, name), []byte("\r\n\r\n"))
	if !ok {
		t.Fatalf("%s has no body", name)
	}
	return body
}

// captures is the folder beside the module that holds them.
func captures(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != "/"; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
	}
	return filepath.Join(dir, "../shared/fixtures/engines")
}
