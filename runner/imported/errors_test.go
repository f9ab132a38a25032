package imported

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"assay/result"
)

// write puts a file into a folder of the test.
func write(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(testdata(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestWhatAPersonIsTold: each way in which files cannot be read says what, and what to do.
func TestWhatAPersonIsTold(t *testing.T) {
	both := t.TempDir()
	for _, name := range []string{"vllm.json", "guidellm.json"} {
		if err := os.WriteFile(filepath.Join(both, name), []byte(read(t, name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	vllm := read(t, "vllm.json")
	tests := []struct{ name, path, as, code, text, hint string }{
		{"not there", "/nonexistent/x.json", "", "plan.import_unreadable", "no such file", "check the name"},
		{"another program's file", write(t, "x.json", `{"a": 1}`), "", "plan.import_format", "is no result of a tool that is known", "vllm, aiperf, guidellm"},
		{"a packed one", write(t, "x.gz", "\x1f\x8b\x08\x00"), "", "plan.import_format", "no result", "unpack"},
		{"an unknown format", testdata("vllm.json"), "wrk", "plan.import_format", `"wrk"`, "use one of: mlperf"},
		{"another format than it is", testdata("vllm.json"), "aiperf", "plan.import_format", "holds nothing that aiperf writes", "leave --as out"},
		{"several tools", both, "", "plan.import_ambiguous", "vllm bench serve and guidellm", "--as vllm or --as guidellm"},
		{"an empty folder", t.TempDir(), "", "plan.import_format", "no result", "what can be read"},
		{"cut off", write(t, "x.json", vllm[:len(vllm)-40]), "", "plan.import_truncated", "x.json ends in its middle", "copy it again"},
		{"lines cut off", write(t, "x.jsonl", read(t, "aiperf/profile_export.jsonl")[:1200]), "", "plan.import_truncated", "its last line is not whole", "copy it again"},
		{"damaged", write(t, "x.json", strings.Replace(vllm, `"itls": [`, `"itls": [}`, 1)), "", "plan.import_malformed", "x.json cannot be read", "as the tool wrote it"},
		{"milliseconds for seconds", write(t, "x.json", strings.NewReplacer("0.1,", "100.0,").Replace(vllm)), "", "plan.import_unit", "one of them has another unit", "lists are seconds"},
		{"no unit of time", write(t, "x.jsonl", strings.ReplaceAll(read(t, "aiperf/profile_export.jsonl"), `"unit": "ms"`, `"unit": "parsec"`)), "", "plan.import_unit", `"parsec"`, "as the tool wrote it"},
		{"lists of different lengths", write(t, "x.json", strings.Replace(vllm, `"output_lens": [`, `"output_lens": [1,`, 1)), "", "plan.import_malformed", "different lengths", "as the tool wrote it"},
		{"a list cut short", write(t, "x.json", strings.Replace(vllm, `"ttfts": [`, `"ttfts": [0.1,`, 1)), "", "plan.import_malformed", "different lengths", "as the tool wrote it"},
		{"a start that is not told", write(t, "x.json", regexp.MustCompile(`("start_times": \[\s*)[0-9.]+`).ReplaceAllString(vllm, "${1}null")), "", "plan.import_malformed", "start_times has no time at place 1", "as the tool wrote it"},
		{"a script that reads such files", write(t, "x.py", `print(R["n_samples_issued"], R["duration_ns"])`), "", "plan.import_format", "is no result of a tool that is known", "mlperf"},
		{"a pipe", pipe, "", "plan.import_unreadable", "neither a file nor a folder", "write it to a file"},
		{"nothing measured", write(t, "x.json", `{"metadata": {"guidellm_version": "0.8.1"}, "benchmarks": []}`), "", "plan.import_empty", "holds no measurement", "measured something"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tryToBring(t, tt.path, tt.as)
			f := faultOf(t, err)
			if f.Code != tt.code || !strings.Contains(f.Text, tt.text) || !strings.Contains(f.Hint, tt.hint) {
				t.Errorf("%s: %s\n  what to do: %s", f.Code, f.Text, f.Hint)
			}
		})
	}
}

// TestPythonsNumbers: NaN and Infinity, which Python writes and which are no JSON, are unknown figures; in a text they stay.
func TestPythonsNumbers(t *testing.T) {
	p := bring(t, testdata("inference-perf"), "").points[0]
	for _, f := range p.Imported.Figures {
		if f.Name == "time_to_first_token.mean" || f.Name == "throughput.output_tokens_per_sec" {
			t.Errorf("%+v", f)
		}
	}
	figure(t, p, "time_to_first_token.median")
}

// TestNamesAreLegible: what a file calls its model does not reach into a terminal, and has an end.
func TestNamesAreLegible(t *testing.T) {
	long := strings.Repeat(`\u001b`, 100_000)
	text := strings.Replace(closedLoop(8, 2, 0), `"model_id":"m"`, `"model_id":"evil`+long+`"`, 1)
	name := bring(t, write(t, "x.json", text), "").found.Name()
	if strings.Contains(name, "\x1b") || !strings.HasPrefix(name, `evil\x1b`) || len(name) > maxName+50 {
		t.Errorf("%q", name)
	}
}

// TestNoNumbersAreTold: they are counted by where they stand, in a warning that goes with the run.
func TestNoNumbersAreTold(t *testing.T) {
	text := strings.Replace(read(t, "vllm.json"), `"ttfts": [`, `"other: \"NaN": [NaN, -Infinity], "ttfts": [`, 1)
	got := bring(t, write(t, "x.json", text), "").found
	want := []string{`x.json holds NaN or Infinity in the place of numbers, which are left out: other: NaN 2`}
	if !slices.Equal(got.Warnings, want) || !slices.Contains(got.Identity(false).Notes, want[0]) {
		t.Errorf("%q", got.Warnings)
	}
	if plain := bring(t, testdata("vllm.json"), "").found.Warnings; len(plain) > 0 {
		t.Errorf("%q", plain)
	}
}

// closedLoop is a file of vLLM's client with n requests of 100 ms over a number of slots; a slot is idle for idle ms between two of them.
func closedLoop(n, slots int, idle float64) string {
	f := map[string]any{"model_id": "m", "backend": "openai", "num_prompts": n, "completed": n, "failed": 0, "max_concurrency": slots, "request_rate": "inf", "request_throughput": 1.0}
	var start, ttft []float64
	var in, out []int
	var gaps [][]float64
	for i := range n {
		start = append(start, 1000+float64(i/slots)*(0.1+idle/1000)+float64(i%slots)/1e4)
		ttft, gaps, in, out = append(ttft, 0.05), append(gaps, []float64{0.05}), append(in, 3), append(out, 2)
	}
	f["start_times"], f["ttfts"], f["itls"], f["input_lens"], f["output_lens"] = start, ttft, gaps, in, out
	b, _ := json.Marshal(f)
	return string(b)
}

// TestLoadThatWasNotHeld: a client that leaves its slots idle between two requests held less than it was asked, and does not say so.
func TestLoadThatWasNotHeld(t *testing.T) {
	for _, tt := range []struct {
		idle  float64
		state result.PointState
	}{{0, result.PointValid}, {25, result.PointNotValid}} {
		p := bring(t, write(t, "x.json", closedLoop(160, 8, tt.idle)), "").points[0]
		if p.State != tt.state || (evidence(p, "underfilled") != "") != (tt.state == result.PointNotValid) {
			t.Errorf("idle %v ms: %s, %v", tt.idle, p.State, p.Reasons)
		}
	}
}

// TestLoadByTheToolsOwnFigures: where the file has no requests, rate × latency is the load that was held; a short run is not judged by it.
func TestLoadByTheToolsOwnFigures(t *testing.T) {
	const file = `{"model_id": "m", "backend": "openai", "num_prompts": %d, "completed": %d, "failed": 0, "max_concurrency": 64, "request_rate": "inf",
		"request_throughput": 40.0, "mean_e2el_ms": 1175.0}`
	for n, want := range map[int]string{512: "47.00 on average by the tool's own figures, of 64", 100: ""} {
		p := bring(t, write(t, "x.json", fmt.Sprintf(file, n, n)), "").points[0]
		if got := evidence(p, "underfilled"); got != want {
			t.Errorf("%d requests: %q", n, got)
		}
	}
}

// TestTwoFilesOfOneSetting: points of one folder keep apart.
func TestTwoFilesOfOneSetting(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.json", "b.json"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(closedLoop(40, 4, 0)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := bring(t, dir, "")
	if len(b.points) != 2 || b.points[0].ID != "c4" || b.points[1].ID != "c4-2" || b.points[0].Recording.Path == b.points[1].Recording.Path {
		t.Errorf("%+v", b.points)
	}
}

// TestOrder: points of several files stand in the order of their load.
func TestOrder(t *testing.T) {
	dir := t.TempDir()
	for _, slots := range []int{16, 2, 8} {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("c%d.json", slots)), []byte(closedLoop(64, slots, 0)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var ids []string
	for _, p := range bring(t, dir, "").points {
		ids = append(ids, p.ID)
	}
	if got := strings.Join(ids, " "); got != "c2 c8 c16" {
		t.Error(got)
	}
}

// TestBounds: names of any length are cut, and a file of endless measurements is refused.
func TestBounds(t *testing.T) {
	long := strings.Replace(read(t, "vllm.json"), `"demo"`, `"`+strings.Repeat("é", 4000)+`"`, 1)
	if b := bring(t, write(t, "x.json", long), ""); len(b.found.Report.Model) > maxName {
		t.Errorf("a model of %d bytes", len(b.found.Report.Model))
	}
	_, err := tryToBring(t, write(t, "x.json", strings.Repeat(`{"num_prompts": 1, "request_throughput": 1, "model_id": "x"}`+"\n", maxPoints+1)), "")
	if f := faultOf(t, err); f.Code != "plan.import_too_large" {
		t.Error(f)
	}
}

// TestDocument: what stands in the place of the plan is read back as it was, and says what is unknown.
func TestDocument(t *testing.T) {
	b := bring(t, testdata("guidellm.json"), "")
	document, sum, err := b.found.Document([]result.Artifact{{Path: "imported/guidellm.json", SHA256: "x", Bytes: 1}})
	if err != nil || len(sum) != 64 {
		t.Fatal(err)
	}
	d, ok := result.DecodeImport(document)
	if !ok || d.Import.Format != "guidellm" || len(d.Points) != 2 {
		t.Fatalf("%+v", d)
	}
	p, ok := PointOf(d, "c2")
	if want := b.found.Report.Points[0]; !ok || p.Setting.ID != want.Setting.ID || p.Setting.Concurrency != 2 || p.Unknown != want.Unknown || *p.Told.Issued != 4 {
		t.Errorf("%+v", p)
	}
	if _, ok := PointOf(d, "c3"); ok {
		t.Error("a point that is not there")
	}
	if _, ok := result.DecodeImport([]byte(`{"name": "a plan"}`)); ok {
		t.Error("a plan is taken for an import")
	}
}
