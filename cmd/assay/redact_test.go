package main

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/fault"
	"assay/result"
	"assay/sim"
)

// hidden are secrets of every kind that a plan can name, by the variable or file that holds them. They need every kind of escaping.
func hidden() map[string]string {
	return map[string]string{
		"SERVER_TOKEN": `sk-"server&token+/0123`, "HEADER_KEY": `hk-<header>/+key=4567`, "HF_TOKEN": `hf_"from'the%env\9876`, "AS_CREDENTIAL": "cred-0a1b2c3d4e5f/+==", "token_file": "tf-from-a-file/+0246",
	}
}

// tells looks for every form of every secret.
func tells(t *testing.T, where string, text []byte) {
	t.Helper()
	for name, secret := range hidden() {
		for _, form := range fault.Forms(secret) {
			if i := bytes.Index(text, []byte(form)); i >= 0 {
				t.Errorf("%s tells %s as %q: …%q", where, name, form, text[max(0, i-60):min(len(text), i+len(form)+20)])
				break
			}
		}
	}
}

// leaking is a server that says back whatever it was sent, wherever it can, in every form.
func leaking(t *testing.T) *httptest.Server {
	t.Helper()
	engine := sim.New(sim.Default()).Handler()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key, other := r.Header.Get("Authorization"), r.Header.Get("X-Gate")
		all := fmt.Sprintf("%s %s %s %s", key, other, url.QueryEscape(other), base64.StdEncoding.EncodeToString([]byte("user:"+strings.TrimPrefix(key, "Bearer "))))
		w.Header().Set("X-Request-Id", other)
		switch {
		case r.URL.Path == "/version":
			fmt.Fprintf(w, `{"version":%s}`, jsonText(all))
		case r.URL.Path == "/v1/models":
			fmt.Fprintf(w, `{"data":[{"id":"sim","owned_by":%[1]s,"root":%[1]s}]}`, jsonText(all))
		case r.URL.Path == "/metrics":
			fmt.Fprintf(w, "# HELP vllm:num_requests_running %s\nvllm:num_requests_running{key=%q} 1\nbroken %s\n", all, other, all)
		case r.Header.Get("X-Session-ID") != "" && strings.HasSuffix(r.Header.Get("X-Session-ID"), "3"):
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"error":{"message":%s}}`, jsonText(all))
		default:
			engine.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	return srv
}

// talkative is the command of a simulated engine that first prints its environment in every form, to both streams.
func talkative(bin string) string {
	script := `printenv; printenv >&2; for v in "$HF_TOKEN" "$AS_CREDENTIAL"; do printf %s "$v" | base64 -w0; echo; printf 'user:%s' "$v" | base64 -w0; echo; printf '{"k":"%s"}\n' "$v"; done; exec ` + bin + ` sim "$@"`
	return `, command: [/bin/sh, -c, ` + jsonText(script) + `, sh]`
}

// TestNoSecretAnywhere executes whole runs whose servers tell every secret they get, and looks into every byte that is left and every answer
// of the API, while they run and after.
func TestNoSecretAnywhere(t *testing.T) {
	p := newProgram(t)
	credentials, tokenFile := t.TempDir(), filepath.Join(t.TempDir(), "token")
	for name, value := range hidden() {
		switch name {
		case "AS_CREDENTIAL":
			if err := os.WriteFile(filepath.Join(credentials, name), []byte(value+"\n"), 0o400); err != nil {
				t.Fatal(err)
			}
		case "token_file":
			if err := os.WriteFile(tokenFile, []byte(value+"\n"), 0o400); err != nil {
				t.Fatal(err)
			}
		default:
			t.Setenv(name, value)
		}
	}
	t.Setenv("CREDENTIALS_DIRECTORY", credentials)
	config := filepath.Join(t.TempDir(), "config.yaml")
	allowed := "allow:\n  variables: [SERVER_TOKEN, HEADER_KEY, HF_TOKEN, AS_CREDENTIAL]\n  commands: [/bin/sh -c]\n  mounts: [" + filepath.Dir(tokenFile) + "]\n"
	if err := os.WriteFile(config, []byte(allowed), 0o600); err != nil {
		t.Fatal(err)
	}
	d := p.serve("--config", config)
	srv := leaking(t)
	endpoint := func(token string) string {
		plan := strings.Replace(simPlan(", "+token), "engine: sim, runtime: process", "engine: vllm, runtime: endpoint, url: '"+srv.URL+"'", 1)
		return strings.NewReplacer("{kind: native}", "{kind: native, headers_env: {X-Gate: HEADER_KEY}}", "sim-1b", "sim", "duration: 1s", "requests: 12").Replace(plan)
	}
	for name, plan := range map[string]string{
		"by variable": endpoint("token_env: SERVER_TOKEN"), "by file": endpoint("token_file: " + tokenFile), "by credential": endpoint("token_env: AS_CREDENTIAL"),
		"in its environment": simPlan(", env_from: [HF_TOKEN, AS_CREDENTIAL]" + talkative(p.bin)),
	} {
		t.Run(name, func(t *testing.T) { leak(t, d, plan) })
	}
	d.stop(os.Interrupt)
	tells(t, "the daemon's log", []byte(d.said()))
	everyFile(t, p.data)
}

// leak executes a run and looks into what the API answers meanwhile and after.
func leak(t *testing.T, d *runningDaemon, plan string) {
	id := d.submit(plan)
	look := func(path string) {
		resp, err := http.Get(d.base + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var b bytes.Buffer
		if _, err := b.ReadFrom(resp.Body); err != nil {
			t.Fatal(err)
		}
		tells(t, path, b.Bytes())
		tells(t, path+", decoded", decoded(t, strings.Replace(path, "/archive", "/archive.zst", 1), b.Bytes()))
	}
	run := "/api/v1/runs/" + id
	while := []string{run, run + "/logs", run + "/logs?tail=20", run + "/files/server.log", "/runs/" + id, "/"}
	events := d.follow(id, func(e result.Event) bool {
		tells(t, "an event", fmt.Appendf(nil, "%+v", e))
		if e.Kind == result.PointStarted || e.Kind == result.PhaseEnded && e.Phase == "ready" {
			for _, path := range while {
				look(path)
			}
		}
		return e.Kind == result.RunEnded
	})
	if last := events[len(events)-1]; last.State != result.Done {
		t.Errorf("it ended as %+v", last)
	}
	after := append(while, run+"/result", run+"/archive", run+"/events", "/api/v1/runs", "/metrics")
	for _, format := range []string{"html", "text", "markdown", "csv", "json", "events"} {
		after = append(after, run+"/report?format="+format)
	}
	for _, path := range after {
		look(path)
	}
}

// everyFile looks into every file, as it is and decoded: database, journal, logs, reports, recordings, archives.
func everyFile(t *testing.T, dir string) {
	t.Helper()
	marks, kinds := 0, map[string]bool{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		tells(t, name, b)
		plain := decoded(t, name, b)
		tells(t, name+", decoded", plain)
		kinds[filepath.Ext(name)] = true
		marks += bytes.Count(b, []byte("[secret ")) + bytes.Count(plain, []byte("[secret "))
		return nil
	})
	for _, ext := range []string{".db", ".log", ".html", ".json", ".jsonl", ".zst", ".yaml"} {
		if !kinds[ext] {
			err = errors.Join(err, fmt.Errorf("no %s file was looked into", ext))
		}
	}
	if err != nil || marks == 0 {
		t.Errorf("%v; secrets were hidden %d times", err, marks)
	}
}
