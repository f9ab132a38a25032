package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/fault"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with a file of testdata, or writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run: go test ./report -update)", err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s differs (run: go test ./report -update):\n%s", path, d)
	}
}

func write(t testing.TB, f Format, in Input) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f.Write(&b, in); err != nil {
		t.Fatalf("format %s: %v", f.Name, err)
	}
	return b.Bytes()
}

// writeIfItCan writes a format that the input may have no figures for; then it must say so.
func writeIfItCan(t testing.TB, f Format, in Input) {
	t.Helper()
	err := f.Write(&bytes.Buffer{}, in)
	if x := fault.Of(err, fault.Store); x != nil && (!f.Matrix || x.Code != "plan.no_matrix") && x.Code != "store.nothing_measured" {
		t.Fatalf("format %s: %v", f.Name, err)
	}
}

// Every format writes every input without an error, twice the same, and has a name and type of its own.
func TestFormats(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Formats() {
		if f.Name == "" || f.ContentType == "" || seen[f.Name] {
			t.Errorf("format %q: name empty or taken, or no content type", f.Name)
		}
		seen[f.Name] = true
		for _, in := range inputs(t) {
			t.Run(f.Name+"/"+in.Name, func(t *testing.T) {
				if f.Matrix && in.Name != "matrix" {
					if err := f.Write(&bytes.Buffer{}, in.Input); fault.Of(err, fault.Store).Code != "plan.no_matrix" {
						t.Errorf("a run that is no matrix: %v", err)
					}
					return
				}
				if len(in.Result.Points) == 0 && strings.HasPrefix(f.Name, "vllm") {
					if err := f.Write(&bytes.Buffer{}, in.Input); fault.Of(err, fault.Client).Code != "store.nothing_measured" {
						t.Errorf("a run without points: %v", err)
					}
					return
				}
				first, second := write(t, f, in.Input), write(t, f, in.Input)
				if !bytes.Equal(first, second) {
					t.Error("two writes of the same input differ")
				}
				if len(first) == 0 && (len(in.Result.Points) > 0 || f.Name != "events") {
					t.Error("nothing was written")
				}
				if bytes.Contains(first, []byte("NaN")) || bytes.Contains(first, []byte("ZgotmplZ")) {
					t.Error("NaN or an unsafe template value in the output")
				}
			})
		}
	}
}

func TestGolden(t *testing.T) {
	extensions := map[string]string{"text": "txt", "html": "html", "json": "json", "csv": "csv", "markdown": "md", "events": "jsonl"} // other tools' formats: export's tests
	for _, f := range Formats() {
		for _, in := range inputs(t) {
			if f.Name == "json" || extensions[f.Name] == "" || !slices.Contains([]string{"sweep", "tiny", "not_valid"}, in.Name) {
				continue
			}
			t.Run(f.Name+"/"+in.Name, func(t *testing.T) {
				golden(t, in.Name+"."+extensions[f.Name], brief(write(t, f, in.Input)))
			})
		}
	}
}

// brief keeps the stylesheet and the long lines of telemetry out of the golden pages: each stands as its hash.
func brief(page []byte) []byte {
	long := regexp.MustCompile(`(?s)<style>.*?</style>|points="[^"]{400,}"`)
	return long.ReplaceAllFunc(page, func(b []byte) []byte {
		name, _, _ := bytes.Cut(b, []byte(">"))
		return fmt.Appendf(nil, "%.7s… sha256 %x", name, sha256.Sum256(b))
	})
}

func TestGoldenMatrix(t *testing.T) {
	f, err := FormatNamed("text")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "matrix.txt", write(t, f, inputNamed(t, "matrix")))
	golden(t, "serve.txt", write(t, f, inputNamed(t, "serve")))
	golden(t, "failed.txt", write(t, f, inputNamed(t, "failed")))
}

func TestFormatNamedUnknown(t *testing.T) {
	_, err := FormatNamed("pdf")
	f := fault.Of(err, fault.Store)
	if f == nil || f.Code != "plan.unknown_format" || !strings.Contains(f.Hint, "markdown") {
		t.Errorf("got %#v", f)
	}
}

func TestJSONIsTheStoredBytes(t *testing.T) {
	in := Input{Raw: []byte("{ \"odd\":  1 }\n")}
	if got := write(t, jsonFormat(), in); !bytes.Equal(got, in.Raw) {
		t.Errorf("got %q", got)
	}
	if err := jsonFormat().Write(&bytes.Buffer{}, Input{}); fault.Of(err, fault.Plan).Code != "store.no_document" {
		t.Errorf("no document: got %v", err)
	}
}

// The CSV has a row per point and no cell that a spreadsheet would run.
func TestCSV(t *testing.T) {
	for _, in := range inputs(t) {
		lines, err := csv.NewReader(bytes.NewReader(write(t, csvFormat(), in.Input))).ReadAll()
		if err != nil {
			t.Fatalf("%s: %v", in.Name, err)
		}
		if len(lines) != 1+len(in.Result.Points) {
			t.Errorf("%s: %d lines for %d points", in.Name, len(lines), len(in.Result.Points))
		}
		for _, line := range lines[1:] {
			for i, s := range line {
				if s != "" && strings.ContainsRune("=+@", rune(s[0])) {
					t.Errorf("%s: column %s holds %q", in.Name, lines[0][i], s)
				}
			}
		}
	}
}

func TestCSVHeadAndValues(t *testing.T) {
	lines, err := csv.NewReader(bytes.NewReader(write(t, csvFormat(), inputNamed(t, "sweep")))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"point": "c384", "concurrency": "384", "system_tps [tok/s]": "5489.382", "ttft_ms.p90 [ms]": "1527.6", "ttft_ms.n": "28047", "utilization [%]": "100",
		"qps [1/s]": "6.10457", "outcomes.ok": "28047", "mlperf.system_tps [tok/s]": "5467.511952191235", "mlperf.utilization [%]": "100", "client.lag.p99 [us]": "22", "rate [1/s]": "", "prompt_tps [tok/s]": "",
	}
	for head, value := range want {
		i := slices.Index(lines[0], head)
		if i < 0 {
			t.Errorf("no column %q in %q", head, lines[0])
			continue
		}
		if got := lines[6][i]; got != value {
			t.Errorf("%s = %q, want %q", head, got, value)
		}
	}
}

func TestEvents(t *testing.T) {
	got := string(write(t, eventsFormat(), inputNamed(t, "tiny")))
	want := `{"point":"c1","response_id":"chatcmpl-<1>","session":"s1","turn":2,"sent_us":1793109721001000,"outcome":"ok","input_tokens":40,"output_tokens":5,"events":[[1793109721003000,1],[1793109721008000,4]]}
{"point":"c1","response_id":"","session":"","turn":0,"sent_us":null,"outcome":"dropped","input_tokens":null,"output_tokens":null,"events":[]}
{"point":"c1","response_id":"c3","session":"","turn":0,"sent_us":1793109721002000,"outcome":"reset","input_tokens":null,"output_tokens":null,"events":[[1793109721002500,1]]}
`
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	in := inputNamed(t, "tiny")
	in.Recording = nil
	if err := eventsFormat().Write(&bytes.Buffer{}, in); fault.Of(err, fault.Plan).Code != "store.no_recording" {
		t.Errorf("without recordings: got %v", err)
	}
}

// No text from outside gets into a format as code.
func TestHostile(t *testing.T) {
	in := inputNamed(t, "hostile")
	page := string(write(t, htmlFormat(), in))
	for _, bad := range []string{"<script", "<img", "onerror=alert(2)>", "href=\"javascript"} {
		if strings.Contains(page, bad) {
			t.Errorf("html holds %q", bad)
		}
	}
	md := string(write(t, markdownFormat(), in))
	for _, bad := range []string{"<script", "<img", "[x]("} {
		if strings.Contains(md, bad) {
			t.Errorf("markdown holds %q", bad)
		}
	}
}

// The page needs nothing from outside itself.
func TestSelfContained(t *testing.T) {
	for _, in := range inputs(t) {
		page := string(write(t, htmlFormat(), in.Input))
		for _, bad := range []string{"<script", "<link", "src=", "@import", "url("} {
			if in.Name != "hostile" && strings.Contains(page, bad) {
				t.Errorf("%s: page holds %q", in.Name, bad)
			}
		}
	}
}

// The run data table has every row of a published page, by name.
func TestRunDataRows(t *testing.T) {
	v := newView(inputNamed(t, "sweep").Result)
	var labels []string
	for _, r := range v.runRows() {
		labels = append(labels, r.Label)
	}
	all := strings.Join(labels, "\n")
	for _, want := range []string{"Run date", "Concurrency", "System tokens/s", "Tokens/s per user", "TTFT P90, ms", "Utilization", "Configuration summary", "Config type", "Config region",
		"Target QPS", "Result state", "Measured accuracy score", "Benchmark version", "Result version", "Archive URI", "Recording", "QPS", "Total output tokens", "Average output tokens", "Run duration, s",
		"Total queries\n", "Total queries issued", "Total queries failed", "Time to first token (TTFT)", "Time per output token (TPOT)", "Query latency", "Inter-token latency"} {
		if !strings.Contains(all, want) {
			t.Errorf("no row %q", want)
		}
	}
	if n := strings.Count(all, "P999"); n < 4 {
		t.Errorf("%d blocks with P999, want at least 4", n)
	}
}

// The figures of the page are those of the published page.
func TestRunDataFigures(t *testing.T) {
	v := newView(inputNamed(t, "sweep").Result)
	want := map[string]string{"System tokens/s": "5,489.4", "Tokens/s per user": "14.3", "TTFT P90, ms": "1,527.6", "Utilization, %": "100.0", "QPS, 1/s": "6.1046", "Total output tokens": "25,220,581", "Run duration, s": "4,594.43", "Total queries": "28,047"}
	for _, r := range v.runRows() {
		if w, ok := want[r.Label]; ok {
			if got := r.Cell(v.res.Points[5]).Text; got != w {
				t.Errorf("%s = %q, want %q", r.Label, got, w)
			}
		}
	}
	if p, _ := v.bestOf(); p.ID != "c384" {
		t.Errorf("best point is %s", p.ID)
	}
}

// The input of a report is left as it was.
func TestInputUnchanged(t *testing.T) {
	in := inputNamed(t, "not_valid")
	before, err := json.Marshal(in.Result)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Formats() {
		writeIfItCan(t, f, in)
	}
	after, err := json.Marshal(in.Result)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before, after) {
		t.Error("a format changed its input")
	}
}
