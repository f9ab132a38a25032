package bench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestGuess: name and first record tell the kind, also of a record that is longer than what is looked at.
func TestGuess(t *testing.T) {
	long := `{"id":"a","conversations":[{"from":"human","value":"` + strings.Repeat("x", 2*firstBytes)
	for _, c := range []struct{ name, text, want string }{
		{"a.txt", "{", "text"},
		{"a.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n", "trace"},
		{"a.json", `[{"conversations":[]}]`, "sharegpt"},
		{"a.json", "", "sharegpt"},
		{"a.jsonl", "\n" + `{"id":"a","conversations":[]}`, "sharegpt"},
		{"a.jsonl", long, "sharegpt"},
		{"a.jsonl", `[{"conversations":[]}]`, "sharegpt"},
		{"a.jsonl", `{"input_length":5,"timestamp":0}`, "trace"},
		{"a.json", `{"timestamp":0}`, "trace"},
		{"a.jsonl", `{"prompt":"timestamp","meta":{"timestamp":1}}`, "jsonl"},
		{"a.jsonl", `{"prompt`, "jsonl"},
		{"a.jsonl", `{"_type":"dataset_metadata"}`, "agentic"},
		{"a.jsonl", `{"conversation_id":"c","turn":1}`, "agentic"},
		{"agentic.jsonl", `{}`, "agentic"},
		{"a.dat", `{"timestamp":0}`, ""},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := guess(path); got != c.want || err != nil {
			t.Errorf("%s %.40q: %q, want %q, %v", c.name, c.text, got, c.want, err)
		}
	}
}

// TestBenchTrace: a trace is replayed to its end, unless another pace is asked for.
func TestBenchTrace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(path, []byte("TIMESTAMP,ContextTokens,GeneratedTokens\n0,5,5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args     string
		points   string
		duration time.Duration
		requests int
	}{
		{"", "x1", 0, 0},
		{"--duration 5s", "x1", 5 * time.Second, 0},
		{"--requests 7", "x1", 0, 7},
		{"--rate 3", "r3", 30 * time.Second, 0},
		{"--concurrency 2", "c2", 0, 0},
	} {
		p, err := benchPlan(append(strings.Fields(c.args), someServer, "--dataset", path)...)
		if err != nil {
			t.Fatal(c.args, err)
		}
		if p.Workload.Kind != "trace" || p.Workload.InputLen != 0 || !p.Workload.Sampling.IgnoreEOS || p.Points()[0].ID != c.points {
			t.Errorf("%q: %+v, %+v", c.args, p.Workload, p.Points())
		}
		if s := p.Protocol.Serve; s != nil && (s.Duration.Std() != c.duration || s.Requests != c.requests) {
			t.Errorf("%q: %+v", c.args, s)
		}
	}
	if _, err := benchPlan(someServer, "--dataset", path, "--contexts", "1k"); err == nil {
		t.Error("a matrix of a trace is taken")
	}
}
