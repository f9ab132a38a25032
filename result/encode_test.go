package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/fault"
	"assay/probes"
	"assay/runner/metrics"
)

var update = flag.Bool("update", false, "write the golden files")

func pointer[T any](v T) *T { return &v }

// full is a result with something everywhere; its lists are short so that the golden file can be read.
func full() Result {
	sut := &probes.SUT{Schema: probes.SchemaSUT, ProbedAtUS: 1764543685000001}
	sut.System.Vendor = probes.Known("A <b> & c", "/sys/class/dmi/id/sys_vendor")
	return Result{
		Schema: Schema,
		Run: Run{
			ID: "20261130T230125-aaaaaa", Name: "demo", State: Done, Verdict: NotValid,
			Reasons:    []Reason{{Code: "client_bound", Text: "the client was late", Evidence: "p99 = 9000 µs"}},
			Error:      &fault.Fault{Layer: fault.Client, Code: "client.late", Text: "late", Hint: "use more cores"},
			PlanSHA256: strings.Repeat("ab", 32), CreatedUS: 1764543685000001, StartedUS: 1764543686000000, EndedUS: 1764543696000000,
			Program: probes.Program{Version: "0.1.0", Commit: "abc", Go: "go1.26"},
			Phases:  []Phase{{Name: "measure", Point: "c4", StartedUS: 1, EndedUS: 2}},
		},
		Plan:     json.RawMessage(`{"name":"demo","workload":{"seed":"18446744073709551615"}}`),
		Identity: Identity{Server: json.RawMessage(`{"runtime":"process"}`), Dataset: DatasetIdentity{Kind: "agentic", Seed: "7"}, Notes: []string{"a < b"}},
		SUT:      SUT{Before: sut},
		Checks:   []probes.Check{{ID: "idle", State: probes.CheckOK, Text: "idle"}},
		Points: []Point{{
			ID: "c4", Phase: "sweep", Concurrency: pointer(4), State: PointNotValid,
			Window:    &Window{StartedUS: 1764543687000000, EndedUS: 1764543695000000, DurationS: 8},
			Warmup:    &Warmup{Requests: 64, DurationS: 12.5, Stable: pointer(true), Steps: 4, ThroughputSpread: pointer(0.03), TTFTSpread: pointer(0.0125)},
			Metrics:   &metrics.Summary{RequestsIssued: 3, SystemTPS: pointer(0.1 + 0.2), TTFTMS: &metrics.Distribution{P50: 1e-7, N: 3}},
			MLPerf:    &metrics.Summary{RequestsIssued: 5},
			Inside:    &metrics.Summary{RequestsIssued: 2},
			Cell:      &metrics.Summary{RequestsIssued: 4, Censored: 4},
			Client:    &metrics.Client{StampSource: "kernel", TokenSource: "usage"},
			Engine:    &EngineCount{GenerationTokens: 9, ClientTokens: 9, PrefixQueries: pointer(int64(8)), PrefixHits: pointer(int64(2)), PrefixHitRate: pointer(25.0)},
			Telemetry: map[string]Telemetry{"gpu1.power_w": {Unit: "W", N: 2}, "gpu0.power_w": {Unit: "W", N: 2, SpanS: 7.5, EnergyJ: pointer(5.5)}},
			Recording: &Recording{Path: "recordings/c4.rec", SHA256: strings.Repeat("cd", 32), Requests: 3, Events: 9, WindowUS: [2]int64{1, 2}},
			Request:   &Request{Path: "recordings/c4.request.json", SHA256: strings.Repeat("01", 32)},
			Speed:     pointer(2.0), PromptTokens: pointer(int64(8190)), Notes: []string{"the server closed idle connections"},
		}},
		Artifacts: []Artifact{{Path: "logs/server.log", SHA256: strings.Repeat("ef", 32), Bytes: 12}},
	}
}

func TestEncodeGolden(t *testing.T) {
	got, err := Encode(full())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "full.golden.json")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDecodeReadsBack(t *testing.T) {
	b, err := Encode(full())
	if err != nil {
		t.Fatal(err)
	}
	r, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(b), string(again)); diff != "" {
		t.Errorf("read and written again (-want +got):\n%s", diff)
	}
	want := whole(full())
	want.Plan, r.Plan = nil, nil // indented in the document
	want.Identity.Server, r.Identity.Server = nil, nil
	want.SUT, r.SUT = SUT{}, SUT{} // an unread fact comes back with its reason
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The plan's hash is that of its canonical form: the document must give that form back.
func TestPlanKeepsItsBytes(t *testing.T) {
	canonical := `{"name":"a<b>&c","x":[1e400,18446744073709551615,0.10],"u":"\u00e9é\u003c"}`
	b, err := Encode(Result{Schema: Schema, Plan: json.RawMessage(canonical)})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := json.Compact(&got, r.Plan); err != nil || got.String() != canonical {
		t.Errorf("plan %s, %v; want %s", got.String(), err, canonical)
	}
}

func TestEncodeListsAreNeverNull(t *testing.T) {
	r := Result{Schema: Schema, Checks: []probes.Check{{}}, Points: []Point{{Metrics: &metrics.Summary{}, MLPerf: &metrics.Summary{}, Inside: &metrics.Summary{}, Cell: &metrics.Summary{}}}}
	b, err := Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"reasons", "phases", "drift", "checks", "points", "artifacts", "evidence", "outcomes"} {
		if bytes.Contains(b, []byte(`"`+key+`": null`)) {
			t.Errorf("%s is null", key)
		}
	}
	if r.Points[0].Reasons != nil || r.Points[0].Metrics.Outcomes != nil || r.Checks[0].Evidence != nil {
		t.Error("Encode changed its argument")
	}
	if b[len(b)-1] != '\n' || bytes.HasSuffix(b, []byte("\n\n")) {
		t.Error("the document does not end with one newline")
	}
}

func TestEncodeRefusesWhatIsNoNumber(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		if _, err := Encode(Result{Points: []Point{{Rate: &v}}}); err == nil {
			t.Errorf("%v was written", v)
		}
	}
}

func TestDecodeFaults(t *testing.T) {
	tests := map[string]string{
		``:                               "store.bad_result",
		`{"schema":"assay.result/v1"} x`: "store.bad_result",
		`{"schema":"assay.result/v1"`:    "store.bad_result",
		`[]`:                             "store.bad_result",
		`{}`:                             "store.bad_result",
		`{"schema":"assay.sut/v1"}`:      "store.bad_result",
		`{"schema":"assay.result/v0"}`:   "store.bad_result",
		`{"schema":"assay.result/v2"}`:   "store.newer_result",
		`{"schema":"assay.result/v10","points":"of another form"}`: "store.newer_result",
		`{"schema":"assay.result/v1","points":7}`:                  "store.bad_result",
	}
	for document, code := range tests {
		_, err := Decode([]byte(document))
		var f *fault.Fault
		if !errors.As(err, &f) || f.Code != code {
			t.Errorf("%s: %v, want %s", document, err, code)
		}
	}
	if _, err := Decode([]byte(`{"schema":"assay.result/v1","new_key":{}}`)); err != nil {
		t.Errorf("a key of a later release: %v", err)
	}
}

// Whatever is read is written in a form that reads back to the same bytes.
func FuzzDecode(f *testing.F) {
	b, err := Encode(full())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"schema":"assay.result/v1","plan":null,"sut":{"before":{"cpu":{"model":{"value":null,"source":"x"}}}}}`))
	f.Fuzz(func(t *testing.T, document []byte) {
		r, err := Decode(document)
		if err != nil {
			return
		}
		first, err := Encode(r)
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		back, err := Decode(first)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		second, err := Encode(back)
		if err != nil || !bytes.Equal(first, second) {
			t.Errorf("%v\nfirst  %s\nsecond %s", err, first, second)
		}
	})
}
