package imported

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/fault"
	"assay/result"
	"assay/runner/record"
)

// brought is what an import gave.
type brought struct {
	found  Found
	dir    string
	points []result.Point
}

// bring imports a path into a folder of the test.
func bring(t *testing.T, path, as string) brought {
	t.Helper()
	b, err := tryToBring(t, path, as)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func tryToBring(t testing.TB, path, as string) (brought, error) {
	src, err := Open(path)
	if err != nil {
		return brought{}, err
	}
	format, own, err := Find(src, as)
	if err != nil {
		return brought{}, err
	}
	b := brought{dir: t.TempDir()}
	if b.found, err = Survey(format, own); err != nil {
		return b, err
	}
	b.points, err = b.found.Points(b.dir, "run")
	return b, err
}

// requests are those of a point's recording.
func (b brought) requests(t *testing.T, i int) []record.Request {
	t.Helper()
	rec, err := record.Read(filepath.Join(b.dir, b.points[i].Recording.Path))
	if err != nil {
		t.Fatal(err)
	}
	return rec.Requests
}

func codes(p result.Point) []string {
	var out []string
	for _, r := range p.Reasons {
		out = append(out, r.Code)
	}
	return out
}

// evidence is that of a reason; "" when the point has none of this code.
func evidence(p result.Point, code string) string {
	i := slices.IndexFunc(p.Reasons, func(r result.Reason) bool { return r.Code == code })
	if i < 0 {
		return ""
	}
	return p.Reasons[i].Evidence
}

// figure is one of the tool's by its name.
func figure(t *testing.T, p result.Point, name string) Figure {
	t.Helper()
	i := slices.IndexFunc(p.Imported.Figures, func(f Figure) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("point %s has no figure %s: %v", p.ID, name, p.Imported.Figures)
	}
	return p.Imported.Figures[i]
}

// clients is the folder of result files of real tools; the test is skipped where it is not at hand.
func clients(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "fixtures", "clients", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("result files of real clients are not at hand: %v", err)
	}
	return path
}

// reports unpacks the folders that real runs of inference-endpoint left.
func reports(t *testing.T) string {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "shared", "reference", "mlperf", "examples", "client-reports.tar.gz"))
	if err != nil {
		t.Skipf("report folders of the real client are not at hand: %v", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg || !filepath.IsLocal(h.Name) {
			continue
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, h.Name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, b, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

// beside copies files of a real tool into a folder under the names that the tool gives them.
func besideEachOther(t *testing.T, names map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for from, to := range names {
		b, err := os.ReadFile(clients(t, from))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, to), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestRealFiles: what real tools wrote is known by its content and read whole.
func TestRealFiles(t *testing.T) {
	tests := []struct {
		name, path, as string
		format         string
		version, model string
		issued         int // by the tool
		held           int // requests in the file
		state          result.PointState
		codes          string
	}{
		{"vllm chat", "vllm-bench-serve.chat.detailed.json", "", "vllm", "", "clean", 12, 12, result.PointValid, ""},
		{"vllm completions", "vllm-bench-serve.completions.detailed.json", "", "vllm", "", "clean", 12, 12, result.PointValid, ""},
		{"guidellm", "guidellm.benchmarks.json", "", "guidellm", "0.8.1", "truncated", 12, 4, result.PointNotValid, "requests_missing errors"},
		{"aiperf", "", "", "aiperf", "0.13.0", "clean", 12, 4, result.PointNotValid, "requests_missing"},
		{"inference-perf", "", "", "inference-perf", "", "truncated", 12, 2, result.PointNotValid, "requests_missing errors"},
		{"aiperf, requests alone", "aiperf.profile_export.jsonl", "", "aiperf", "", "", 0, 4, result.PointValid, ""},
		{"aiperf, summary alone", "aiperf.profile_export_aiperf.json", "aiperf", "aiperf", "0.13.0", "clean", 12, 0, result.PointNotValid, "requests_missing"},
		{"aiperf, failed", "aiperf.error.profile_export.jsonl", "", "aiperf", "", "", 0, 2, result.PointNotValid, "no_requests errors"},
		{"inference-perf, stage alone", "inference-perf.stage_0_lifecycle_metrics.json", "", "inference-perf", "", "", 12, 0, result.PointNotValid, "requests_missing errors"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := ""
			switch {
			case tt.path != "":
				path = clients(t, tt.path)
			case tt.format == "aiperf":
				path = besideEachOther(t, map[string]string{"aiperf.profile_export.jsonl": "profile_export.jsonl", "aiperf.profile_export_aiperf.json": "profile_export_aiperf.json"})
			default:
				path = besideEachOther(t, map[string]string{"inference-perf.stage_0_lifecycle_metrics.json": "stage_0_lifecycle_metrics.json",
					"inference-perf.summary_lifecycle_metrics.json":     "summary_lifecycle_metrics.json",
					"inference-perf.per_request_lifecycle_metrics.json": "per_request_lifecycle_metrics.json", "inference-perf.config.yaml": "config.yaml"})
			}
			b := bring(t, path, tt.as)
			if b.found.Format.Name != tt.format || b.found.Report.Version != tt.version || b.found.Report.Model != tt.model || len(b.points) != 1 {
				t.Fatalf("%s, version %q, model %q, %d points", b.found.Format.Name, b.found.Report.Version, b.found.Report.Model, len(b.points))
			}
			issued := 0
			if n := b.found.Report.Points[0].Told.Issued; n != nil {
				issued = *n
			}
			p := b.points[0]
			if issued != tt.issued || b.found.Spans[0].Requests != tt.held || p.State != tt.state || strings.Join(codes(p), " ") != tt.codes {
				t.Errorf("issued %d, held %d, %s, reasons %v", issued, b.found.Spans[0].Requests, p.State, p.Reasons)
			}
			if (p.Recording != nil) != (tt.held > 0) {
				t.Errorf("recording %v", p.Recording)
			}
		})
	}
}

// TestSameFormulaSameFigure: where a real tool's whole run is in its file, the figures made of its requests are those that it printed.
func TestSameFormulaSameFigure(t *testing.T) {
	for name, least := range map[string]int{"vllm-bench-serve.chat.detailed.json": 13, "vllm-bench-serve.completions.detailed.json": 28} {
		b := bring(t, clients(t, name), "")
		seen := 0
		for _, f := range b.points[0].Imported.Figures {
			if f.Assay == nil {
				continue
			}
			seen++
			if off(f) > 0.005 {
				t.Errorf("%s: %s is %v, %s is %v", name, f.Name, f.Value, f.Metric, *f.Assay)
			}
		}
		if seen < least {
			t.Errorf("%s: only %d figures have one of assay's beside them", name, seen)
		}
	}
}

// TestChatBeginsWithARole: the role chunk of a chat is no token, so the first token is later than the tool's TTFT says, which has no metric
// of the same formula.
func TestChatBeginsWithARole(t *testing.T) {
	b := bring(t, clients(t, "vllm-bench-serve.chat.detailed.json"), "")
	p := b.points[0]
	told := figure(t, p, "mean_ttft_ms")
	if told.Metric != "" || told.Assay != nil {
		t.Errorf("TTFT of a chat has the metric %q beside it", told.Metric)
	}
	for i, q := range b.requests(t, 0) {
		if len(q.Events) != 24 || q.OutputTokens != 24 || q.TokenSource != "estimated" {
			t.Errorf("request %d: %d events, %d tokens, %s", i, len(q.Events), q.OutputTokens, q.TokenSource)
		}
	}
	if p.MLPerf.TTFTMS.Mean <= told.Value {
		t.Errorf("the first token comes at %v ms, the tool's first chunk at %v ms", p.MLPerf.TTFTMS.Mean, told.Value)
	}
}

// TestEveryFigureSaysWhatItIs: each has a unit or counts, a formula and a population; none with a metric lacks assay's where requests are.
func TestEveryFigureSaysWhatItIs(t *testing.T) {
	for _, path := range []string{"vllm.json", "vllm-log.txt", "aiperf", "inference-perf", "guidellm.json", "llm-inference-bench.json", "mlperf/dead", "mlperf/warm"} {
		for _, p := range bring(t, filepath.Join("testdata", path), "").points {
			for _, f := range p.Imported.Figures {
				if f.Name == "" || f.Formula == "" || f.Population == "" || strings.Contains(f.Name, "median") != (f.Statistic == "p50" && strings.Contains(f.Name, "median")) {
					t.Errorf("%s: figure %+v", path, f)
				}
			}
		}
	}
}

// faultOf is the code of an error that a person is told.
func faultOf(t *testing.T, err error) *fault.Fault {
	t.Helper()
	var f *fault.Fault
	if !errors.As(err, &f) {
		t.Fatalf("no fault: %v", err)
	}
	return f
}
