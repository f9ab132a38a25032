package containers

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/fault"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestMain lets the test binary play the server that a test starts: childMode names the part.
func TestMain(m *testing.M) {
	if mode := os.Getenv(childMode); mode != "" {
		os.Exit(playChild(mode, os.Args[1:]))
	}
	os.Exit(m.Run())
}

const childMode = "ASSAY_TEST_CHILD"

// playChild is a small server with a way to misbehave.
func playChild(mode string, args []string) int {
	switch mode {
	case "exit-early":
		fmt.Println("server: error: unrecognized arguments: --nope")
		return 3
	case "silent-exit":
		return 0
	case "ignore-term":
		signal.Ignore(syscall.SIGTERM)
	case "grandchild":
		cmd := exec.Command("/bin/sleep", "600")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Start(); err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println("grandchild", cmd.Process.Pid)
	}
	port, _ := flagValue(args, []string{"--port"})
	fmt.Println("listening on", port)
	fmt.Println(http.ListenAndServe("127.0.0.1:"+port, engineHandler("test-model")))
	return 1
}

// childSpec starts this test binary in a mode.
func childSpec(t *testing.T, mode string) Spec {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	port, err := FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return Spec{Owner: ownerOf(t), Run: "run1", Role: "server", Runtime: "process", Argv: []string{exe, "--port", fmt.Sprint(port)},
		Env: map[string]string{childMode: mode}, Port: port, HostPort: port, Dir: t.TempDir(), StopGrace: 300 * time.Millisecond}
}

// ownerOf is a mark of this test and process alone.
func ownerOf(t *testing.T) string {
	return fmt.Sprintf("test-%d-%s", os.Getpid(), strings.ReplaceAll(t.Name(), "/", "-"))
}

// startSpec starts and makes sure that it ends with the test.
func startSpec(t *testing.T, r Runtime, s Spec) Instance {
	t.Helper()
	inst, err := r.Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := inst.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
	return inst
}

// engineHandler is a healthy server of one model.
func engineHandler(model string) http.Handler {
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

// served is a test server as an instance of runtime endpoint.
func servedBy(t *testing.T, h http.Handler) Instance {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return distant{base: s.URL}
}

// golden compares with a file, or writes it.
func golden(t *testing.T, name string, got []byte) {
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

// goldenJSON is golden for a value.
func goldenJSON(t *testing.T, name string, v any) {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	golden(t, name, b.Bytes())
}

// wantFault checks code and the words of an error.
func wantFault(t *testing.T, err error, code string, words ...string) {
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

// fixture reads a capture of a real server; without the captures the test is skipped.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../shared/fixtures/engines", name))
	if err != nil {
		t.Skipf("no captures of engines: %v", err)
	}
	return b
}

// fixtureBody is the body of a captured answer without chunk framing.
func fixtureBody(t testing.TB, name string) []byte {
	t.Helper()
	_, body, ok := bytes.Cut(fixture(t, name), []byte("\r\n\r\n"))
	if !ok {
		t.Fatalf("%s has no body", name)
	}
	return body
}
