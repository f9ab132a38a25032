package imported

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay/fault"
	"assay/plan"
	"assay/result"
	"assay/runner"
)

// plannedWith is a point of a plan of which a client left these files of testdata.
func plannedWith(t *testing.T, at plan.Point, format, results string, files ...string) Planned {
	t.Helper()
	p := Planned{Dir: t.TempDir(), Run: "run-1", At: at, By: runner.Foreign{Kind: format, Format: format, Dir: "client/" + at.ID, Results: results, StartedUS: 1, EndedUS: time.Now().UnixMicro()}}
	to := filepath.Join(p.Dir, p.By.Dir)
	if filepath.Ext(results) == "" {
		to = filepath.Join(to, results)
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if name = filepath.Base(name); filepath.Ext(results) != "" {
			name = results
		}
		if err := os.WriteFile(filepath.Join(to, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func at(id string, concurrency int) plan.Point {
	return plan.Point{ID: id, Phase: plan.PhaseSweep, Concurrency: concurrency}
}

// TestPlanned: a point has the plan's id and setting, the tool's figures, a recording, and what its tool said.
func TestPlanned(t *testing.T) {
	p := plannedWith(t, at("c2", 2), "vllm", "result.json", "vllm.json")
	p.By.ClockUS = 1_770_000_000_000_000
	m, err := p.Import()
	if err != nil {
		t.Fatal(err)
	}
	r := m.Point
	if r.ID != "c2" || *r.Concurrency != 2 || r.Imported.File != "client/c2/result.json" || r.Imported.Tool != "vllm bench serve" || r.Imported.Format != "vllm" || *r.Imported.Told.Issued != 4 {
		t.Errorf("%+v %+v", r, r.Imported)
	}
	if m.Reading == nil || r.Recording.Requests != 4 || r.Recording.Path != "recordings/c2.rec" {
		t.Errorf("%+v", r.Recording)
	}
	if _, err := os.Stat(filepath.Join(p.Dir, r.Recording.Path)); err != nil {
		t.Error(err)
	}
}

// TestPlannedDate: times of the machine's monotonic clock are put on UTC; those that then lie outside the tool's life are of another clock.
func TestPlannedDate(t *testing.T) {
	for _, c := range []struct {
		name        string
		started     int64
		wantUS      int64 // 0: the file's date
		wantedNotes int
	}{
		{"inside its life", 1_770_000_099_500_000, 1_770_000_100_000_000, 0},
		{"outside its life", 1_770_000_200_000_000, 0, 1},
	} {
		p := plannedWith(t, at("c2", 2), "vllm", "result.json", "vllm.json") // its first request starts at 100 s
		p.By.ClockUS, p.By.StartedUS = 1_770_000_000_000_000, c.started
		p.By.EndedUS = c.started + 2_000_000
		m, err := p.Import()
		if err != nil {
			t.Fatal(err)
		}
		dated := 0
		for _, n := range m.Point.Notes {
			if strings.Contains(n, "clock has no date") {
				dated++
			}
		}
		if got := m.Point.Recording.EpochUS; c.wantUS > 0 && got != c.wantUS || c.wantUS == 0 && got == 1_770_000_100_000_000 || dated != c.wantedNotes {
			t.Errorf("%s: epoch %d, notes %v", c.name, got, m.Point.Notes)
		}
	}
}

// TestPlannedOtherPoint: what is of another setting, twice there or not there is no result of the point.
func TestPlannedOtherPoint(t *testing.T) {
	for _, c := range []struct {
		name  string
		p     Planned
		words string
	}{
		{"another concurrency", plannedWith(t, at("c8", 8), "vllm", "result.json", "vllm.json"), "another setting"},
		{"nothing", plannedWith(t, at("c2", 2), "vllm", "result.json"), "cannot read"},
		{"an empty folder", plannedWith(t, at("c2", 2), "aiperf", "artifacts"), "holds nothing that aiperf writes"},
		{"another tool's", plannedWith(t, at("c2", 2), "vllm", "result.json", "guidellm.json"), "holds nothing that vllm"},
		{"two of any setting", plannedWith(t, plan.Point{ID: "all", Phase: plan.PhaseServe, Rate: 10}, "guidellm", "benchmarks.json", "guidellm.json"), "two measurements"},
	} {
		_, err := c.p.Import()
		if f := fault.Of(err, fault.Plan); err == nil || f.Code != "client.no_result" || !strings.Contains(f.Text, c.words) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestPlannedCell: of a matrix the cell is taken, not the scout's prefill pass beside it; without single requests it is no result.
func TestPlannedCell(t *testing.T) {
	p := plannedWith(t, plan.Point{ID: "decode-16384x4", Phase: plan.PhaseDecode, Context: 16384, Concurrency: 4}, "llm-inference-bench", "results.json", "llm-inference-bench.json")
	m, err := p.Import()
	if err != nil {
		t.Fatal(err)
	}
	if m.Reading != nil || m.Version != "0.4.18" || m.Point.State != result.PointNotValid || len(m.Point.Imported.Figures) == 0 || m.Point.Imported.Told.Phase != plan.PhaseDecode {
		t.Errorf("%+v", m.Point)
	}
}

// TestPhasesFolder: AIPerf writes the figures of a run with a warm-up again, by phase; they are no points of their own.
func TestPhasesFolder(t *testing.T) {
	p := plannedWith(t, at("c2", 2), "aiperf", "artifacts", "aiperf/profile_export_aiperf.json", "aiperf/profile_export.jsonl")
	again := filepath.Join(p.Dir, "client/c2/artifacts/phases/warmup")
	if err := os.CopyFS(again, os.DirFS(filepath.Join("testdata", "aiperf"))); err != nil {
		t.Fatal(err)
	}
	if m, err := p.Import(); err != nil || m.Point.Recording.Requests != 4 {
		t.Errorf("%+v %v", m.Point.Recording, err)
	}
}
