package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/result"
	"assay/runner/metrics"
)

// imported runs `assay import` and gives the result it made.
func (p testProgram) imported(code int, args ...string) result.Result {
	p.t.Helper()
	r := p.must(code, append([]string{"import", "--json"}, args...)...)
	var out result.Result
	if err := json.Unmarshal([]byte(r.stdout), &out); err != nil {
		p.t.Fatalf("%v: %s", err, r.stderr)
	}
	return out
}

// verified packs the last run and lets `assay verify` recompute it.
func (p testProgram) verified() string {
	p.t.Helper()
	packed := filepath.Join(p.t.TempDir(), "run.tar.zst")
	p.must(exitValid, "archive", "last", "--out", packed)
	return p.must(exitValid, "verify", packed).stdout
}

const foreign = "../../runner/imported/testdata/"

// TestImport: what another client wrote is listed, shown, reported and verified as a run that says whose it is.
func TestImport(t *testing.T) {
	tests := []struct {
		name, path string
		code       int
		verified   []string
	}{
		{"every request", "mlperf/warm", exitNotValid, []string{"3 files of inference-endpoint", "numbers recomputed from recordings/c2.rec, all equal"}},
		{"a closed and an open loop", "guidellm.json", exitNotValid, []string{"point c2", "point r10", "all 2 of the plan"}},
		{"no requests", "llm-inference-bench.json", exitNotValid, []string{"has no numbers: not_valid", "has no numbers: over_capacity"}},
		{"a printed block", "vllm-log.txt", exitNotValid, []string{"has no numbers: not_valid"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newProgram(t)
			r := p.imported(tt.code, foreign+tt.path)
			doc, is := result.DecodeImport(r.Plan)
			if !is || r.SUT.Before != nil || !strings.Contains(strings.Join(r.Identity.Notes, "; "), "measured by "+doc.Import.Tool) {
				t.Errorf("%s, %v", r.Plan, r.Identity.Notes)
			}
			for _, f := range doc.Import.Files {
				if !slices.Contains(r.Artifacts, f) {
					t.Errorf("%s is not kept", f.Path)
				}
			}
			if out := p.must(exitValid, "runs").stdout; !strings.Contains(out, "imported from "+doc.Import.Tool) {
				t.Error(out)
			}
			if out := p.must(exitValid, "show", "last").stdout; !strings.Contains(out, "not by assay") {
				t.Error(out)
			}
			for _, format := range formatNames() {
				if format == "llm-inference-bench" {
					continue
				}
				want := exitValid
				if strings.HasPrefix(format, "vllm") && !slices.ContainsFunc(r.Points, func(pt result.Point) bool { return pt.Recording != nil }) {
					want = exitInfra // vLLM's client has no file for a run without requests
				}
				if out := p.must(want, "report", "last", "--format", format); format == "text" && !strings.Contains(out.stdout, "TOLD BY THE CLIENT") {
					t.Error(out.stdout)
				}
			}
			out := p.verified()
			for _, want := range tt.verified {
				if !strings.Contains(out, want) {
					t.Errorf("verify lacks %q:\n%s", want, out)
				}
			}
		})
	}
}

// TestImportWithItsMachine: a machine's document says where it was measured; another file is refused.
func TestImportWithItsMachine(t *testing.T) {
	p := newProgram(t)
	sut := filepath.Join(t.TempDir(), "sut.json")
	p.must(exitValid, "probe", "--json", "--out", sut)
	if r := p.imported(exitNotValid, foreign+"vllm.json", "--sut", sut); r.SUT.Before == nil {
		t.Error("the machine is lost")
	}
	r := p.must(exitUsage, "import", foreign+"vllm.json", "--sut", foreign+"vllm.json")
	if !strings.Contains(r.stderr, "no machine's document") || !strings.Contains(r.stderr, "assay probe --json --out") {
		t.Error(r.stderr)
	}
}

// TestImportTellsContradictions: figures that are not those of the tool's own requests stand beside the verdict, not in the report alone.
func TestImportTellsContradictions(t *testing.T) {
	p := newProgram(t)
	b, err := os.ReadFile(foreign + "vllm.json")
	if err != nil {
		t.Fatal(err)
	}
	lie := filepath.Join(t.TempDir(), "lie.json")
	if err := os.WriteFile(lie, bytes.Replace(b, []byte(`"output_throughput": `), []byte(`"output_throughput": 9`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, told := range map[string]bool{lie: true, foreign + "vllm.json": false} {
		r := p.must(exitNotValid, "import", path)
		if strings.Contains(r.stderr, "warning: c2: figures of the tool differ") != told || strings.Contains(r.stderr, "output_throughput") != told {
			t.Errorf("%s: %s", path, r.stderr)
		}
	}
}

// TestImportedMachineIsLegible: a machine's document that somebody else wrote does not reach into a terminal.
func TestImportedMachineIsLegible(t *testing.T) {
	p := newProgram(t)
	sut := filepath.Join(t.TempDir(), "sut.json")
	p.must(exitValid, "probe", "--json", "--out", sut)
	b, err := os.ReadFile(sut)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	decodeJSON(t, string(b), &doc)
	doc["system"].(map[string]any)["vendor"] = map[string]string{"value": "\x1b[31mEvil\r" + strings.Repeat("x", 100_000), "source": "s"}
	if b, err = json.Marshal(doc); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(sut, b, 0o600); err != nil {
		t.Fatal(err)
	}
	vendor := p.imported(exitNotValid, foreign+"vllm.json", "--sut", sut).SUT.Before.System.Vendor.Value
	if strings.ContainsAny(vendor, "\x1b\r") || len(vendor) > 5000 || !strings.Contains(vendor, "Evil") {
		t.Errorf("%.100q, %d bytes", vendor, len(vendor))
	}
}

// TestImportRefuses: nothing is left of what could not be imported.
func TestImportRefuses(t *testing.T) {
	p := newProgram(t)
	for _, args := range [][]string{{foreign + "vllm.json", "--as", "wrk"}, {foreign}, {"/nonexistent"}, {"/dev/zero"}, {foreign + "vllm.json", "--sut", "/dev/zero"}} {
		if r := p.must(exitUsage, append([]string{"import"}, args...)...); !strings.Contains(r.stderr, "what to do: ") {
			t.Error(r.stderr)
		}
	}
	if all, err := filepath.Glob(filepath.Join(p.data, "runs", "*")); err != nil || len(all) > 0 {
		t.Errorf("left: %v, %v", all, err)
	}
}

// TestOwnExportsComeBack: what `assay report` writes for other programs is read as their files are, with the same figures.
func TestOwnExportsComeBack(t *testing.T) {
	p := newProgram(t)
	url := startSim(p, "--step-base", "2ms")
	var own result.Result
	bench := p.run("bench", url, "--concurrency", "2,4", "--requests", "24", "--input-len", "64", "--output-len", "16", "--json", "--no-archive")
	if err := json.Unmarshal([]byte(bench.stdout), &own); err != nil {
		t.Fatalf("%v: %s", err, bench.stderr)
	}
	for _, tt := range []struct{ format, file, name, stat string }{{"vllm-json", "x.json", "mean_e2el_ms", "mean"}, {"vllm", "x.log", "mean_itl_ms", "mean"}} {
		to := filepath.Join(t.TempDir(), tt.file)
		p.must(exitValid, "report", own.Run.ID, "--format", tt.format, "--out", to)
		back := p.imported(exitNotValid, to)
		if len(back.Points) != len(own.Points) {
			t.Fatalf("%s: %d points", tt.format, len(back.Points))
		}
		for i, b := range back.Points {
			mean := distribution(own.Points[i].Metrics, tt.name).Mean
			f := b.Imported.Figures[slices.IndexFunc(b.Imported.Figures, func(f result.Figure) bool { return f.Name == tt.name })]
			if *b.Concurrency != *own.Points[i].Concurrency || math.Abs(f.Value-mean) > 0.01*mean {
				t.Errorf("%s: %s is %v, the run had %v", tt.format, f.Name, f.Value, mean)
			}
		}
	}
}

func distribution(s *metrics.Summary, name string) metrics.Distribution {
	if strings.Contains(name, "e2el") {
		return *s.E2EMS
	}
	return *s.ITLMS
}

// TestOwnMatrixComesBack is the same of a matrix.
func TestOwnMatrixComesBack(t *testing.T) {
	p := newProgram(t)
	url := startSim(p, "--step-base", "2ms")
	bench := p.run("bench", url, "--contexts", "256", "--concurrency", "2", "--duration", "1s", "--output-len", "64", "--json", "--no-archive")
	var own result.Result
	if err := json.Unmarshal([]byte(bench.stdout), &own); err != nil {
		t.Fatalf("%v: %s", err, bench.stderr)
	}
	to := filepath.Join(t.TempDir(), "x.json")
	p.must(exitValid, "report", own.Run.ID, "--format", "llm-inference-bench", "--out", to)
	if b, err := os.ReadFile(to); err != nil || len(b) == 0 {
		t.Fatal(err)
	}
	back := p.imported(exitNotValid, to)
	var ids []string
	for _, b := range back.Points {
		ids = append(ids, b.ID)
	}
	if want := []string{"prefill-256", "decode-256x2"}; !slices.Equal(ids, want) {
		t.Errorf("points %v, want %v", ids, want)
	}
}
