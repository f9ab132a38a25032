package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/zstd"

	"assay/runner/record"
	"assay/sim"
)

// secretMark is what a token must leave nowhere, whole or in part.
const secretMark = "sk-never-tell"

// echoing is a simulated engine that from its nth completion on answers with the key it was sent.
func echoing(t *testing.T, honest int64, answer func(http.ResponseWriter, string)) *httptest.Server {
	t.Helper()
	engine := sim.New(sim.Default()).Handler()
	var asked atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/chat/completions" && asked.Add(1) > honest || r.URL.Path == "/v1/models" && honest == 0 {
			answer(w, r.Header.Get("Authorization"))
			return
		}
		engine.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv
}

// TestTheTokenIsToldToNobody: not on the screen and in no file, whether the server repeats it before or while it is measured.
func TestTheTokenIsToldToNobody(t *testing.T) {
	const token = secretMark + "-0123456789abcdef"
	refuse := func(w http.ResponseWriter, key string) { w.WriteHeader(401); fmt.Fprint(w, "bad key "+key) }
	stream := func(w http.ResponseWriter, key string) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"id\":%[1]q,\"error\":{\"message\":\"bad key %[1]s\"}}\n\n", key)
	}
	for _, c := range []struct {
		name   string
		honest int64
		answer func(http.ResponseWriter, string)
		code   int
	}{
		{"at its start", 0, refuse, exitInfra},
		{"refused while measured", 3, refuse, exitNotValid},
		{"streamed while measured", 3, stream, exitNotValid},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := echoing(t, c.honest, c.answer)
			p := newProgram(t)
			t.Setenv("ECHO_TOKEN", token)
			plan := writePlan(t, strings.Replace(simPlan(", token_env: ECHO_TOKEN"), "engine: sim, runtime: process", "engine: openai, runtime: endpoint, url: '"+srv.URL+"'", 1))
			r := p.must(c.code, "run", plan, "--set", "model.name=sim", "--set", "protocol.sweep={concurrency: 2, requests: 10}")
			said := r.stdout + r.stderr
			for _, format := range []string{"html", "text", "markdown", "csv", "json", "events"} {
				said += p.run("report", "last", "--format", format).stdout
			}
			if strings.Contains(said, secretMark) {
				t.Errorf("the token was told:\n%s", said)
			}
			if kept := withoutSecret(t, p.data); !strings.Contains(kept, "bad key [token]") {
				t.Errorf("the server's words are lost:\n%s", r.stdout+r.stderr)
			}
		})
	}
}

// TestVariablesOfTheServer: a secret reaches the server by its name alone; without it the run is refused before anything starts.
func TestVariablesOfTheServer(t *testing.T) {
	p := newProgram(t)
	plan := writePlan(t, simPlan(", env_from: [SERVER_SECRET]"))
	if r := p.must(exitPreflight, "run", plan); !strings.Contains(r.stderr+r.stdout, "export SERVER_SECRET=") {
		t.Errorf("it does not say what to do:\n%s\n%s", r.stdout, r.stderr)
	}
	t.Setenv("SERVER_SECRET", secretMark)
	p.must(exitValid, "run", plan)
	if kept := withoutSecret(t, p.data); !strings.Contains(kept, "SERVER_SECRET") {
		t.Error("the plan's env_from is not kept")
	}
}

// withoutSecret looks into every file below a folder, as it is and decoded, and gives what stands there.
func withoutSecret(t *testing.T, dir string) string {
	t.Helper()
	var all bytes.Buffer
	seen := map[string]bool{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		seen[filepath.Ext(name)] = true
		b = append(b, decoded(t, name, b)...)
		all.Write(b)
		if bytes.Contains(b, []byte(secretMark)) {
			t.Errorf("%s holds the token", name)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	for _, ext := range []string{".db", ".html", ".json", ".jsonl", ".zst"} {
		if !seen[ext] {
			t.Errorf("no %s file was looked into: %v", ext, seen)
		}
	}
	return all.String()
}

// decoded is what a compressed file holds.
func decoded(t *testing.T, name string, b []byte) []byte {
	t.Helper()
	if rec, err := record.Decode(bytes.NewReader(b)); err == nil {
		return fmt.Appendf(nil, "%+v", rec)
	}
	if !strings.HasSuffix(name, ".zst") {
		return nil
	}
	z, err := zstd.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}
