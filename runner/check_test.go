package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/fault"
	"assay/plan"
)

const checkedPlan = `
apiVersion: assay/v1
name: checked
allow_unpinned: true
model: {name: m}
server: {engine: openai, runtime: endpoint, url: "http://127.0.0.1:8000"}
workload: {kind: %s, dataset: {%s}}
protocol: %s
`

func TestCheckDataset(t *testing.T) {
	const sweep, matrix = "{sweep: {concurrency: [1, 4], requests: 4}}", "{matrix: {contexts: [3, 96], concurrency: [1], duration: 1s}}"
	cases := []struct {
		name, kind, file, protocol string
		want                       string // in the error; "" for a good dataset
	}{
		{"good", "jsonl", `{"prompt": "hello"}`, sweep, ""},
		{"a bad line before a good one", "jsonl", "{\n{\"prompt\": \"hello\"}", sweep, ""},
		{"no good line", "jsonl", "\n{'prompt': 1}\n{}", sweep, "line 2: invalid character"},
		{"empty", "jsonl", "", sweep, "holds no conversation"},
		{"broken array", "sharegpt", `[{"id": `, sweep, "record 1"},
		{"a record that is good and then rubbish", "sharegpt", `[{"id":"a","conversations":[{"from":"human","value":"hi"}]}, rubbish`, sweep, ""},
		{"questions longer than the tokens wanted have fewer words", "sharegpt", `[{"id":"a","conversations":[{"from":"human","value":"hi there, how is it"}]}]`, sweep, ""},
		{"no turn", "agentic", `{"conversation_id":"c","turn":2,"role":"user","content":"x"}`, sweep, "line 1: turn 2 follows turn 0"},
		{"long enough for every context", "text", strings.Repeat("word ", 12), matrix, ""},
		{"too short for the longest context", "text", strings.Repeat("word ", 11), matrix, "12 words"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "data.txt")
			if err := os.WriteFile(path, []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
			p, err := plan.Parse(fmt.Appendf(nil, checkedPlan, c.kind, "path: "+path, c.protocol))
			if err != nil {
				t.Fatal(err)
			}
			wantUnusable(t, CheckDataset(t.Context(), p), c.want)
		})
	}
}

func wantUnusable(t *testing.T, err error, want string) {
	t.Helper()
	switch f := fault.Of(err, fault.Plan); {
	case want == "" && f != nil:
		t.Errorf("refused: %v", f)
	case want != "" && (f == nil || !strings.Contains(f.Text, want) || f.Layer != fault.Client):
		t.Errorf("%v, want %q", f, want)
	}
}

func TestCheckBuiltin(t *testing.T) {
	for name, want := range map[string]string{"agentic-small": "", "agentic-huge": `no built-in dataset "agentic-huge"`} {
		p, err := plan.Parse(fmt.Appendf(nil, checkedPlan, "agentic", "builtin: agentic-small", "{sweep: {concurrency: [1], requests: 4}}"))
		if err != nil {
			t.Fatal(err)
		}
		p.Workload.Dataset.Builtin = name
		wantUnusable(t, CheckDataset(t.Context(), p), want)
	}
}

// TestCheckLimits asks for more connections than any machine has ports for, in each protocol.
func TestCheckLimits(t *testing.T) {
	cases := map[string]struct {
		protocol string
		refused  bool
	}{
		"sweep":               {"{sweep: {concurrency: [1, 4], requests: 4}}", false},
		"large sweep":         {"{sweep: {concurrency: [4, 100000], requests: 4}}", true},
		"serve without bound": {"{serve: {rate: [10], duration: 10s}}", false},
		"large serve":         {"{serve: {rate: [10], max_concurrency: 100000, duration: 10s}}", true},
		"large matrix":        {"{matrix: {contexts: [512], concurrency: [100000], duration: 1s}}", true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := plan.Parse(fmt.Appendf(nil, checkedPlan, "synthetic", "", c.protocol))
			if err != nil {
				t.Fatal(err)
			}
			err = CheckLimits(p)
			if f := fault.Of(err, fault.Plan); (err != nil) != c.refused || c.refused && (f.Layer != fault.Client || f.Hint == "") {
				t.Errorf("%v", err)
			}
			p.Client.Kind = "other"
			if err := CheckLimits(p); err != nil {
				t.Errorf("another client: %v", err)
			}
		})
	}
}

// TestExpectedTargets: what the connections of a point are shared among.
func TestExpectedTargets(t *testing.T) {
	for name, c := range map[string]struct {
		server plan.Server
		router string
		want   int
	}{
		"a server to start":             {plan.Server{}, "", 1},
		"replicas":                      {plan.Server{Replicas: 4}, "", 4},
		"replicas without a router":     {plan.Server{Replicas: 4}, plan.RouterNone, 4},
		"replicas behind a router":      {plan.Server{Replicas: 4}, "nginx", 1},
		"running servers":               {plan.Server{URLs: []string{"http://a:1", "http://b:1"}}, "", 2},
		"running servers, with routers": {plan.Server{URLs: []string{"http://a:1", "http://b:1"}}, "haproxy", 1},
	} {
		got, err := expected(plan.Plan{Server: c.server}, plan.Point{Router: plan.Router{Kind: c.router}})
		at := map[string]bool{}
		for _, target := range got {
			at[target.Address] = true
		}
		if err != nil || len(at) != c.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
