package archive

import (
	"encoding/json"
	"strings"
	"testing"

	"assay/result"
	"assay/runner"
	"assay/runner/metrics"
	"assay/runner/record"
)

// foreignRun is a run that another client measured: a closed loop of which the client says that all ten requests completed.
func foreignRun(t *testing.T) *run {
	t.Helper()
	ten := 10
	file := result.Artifact{Path: "imported/x.json", SHA256: "abc", Bytes: 3}
	plan, err := json.Marshal(result.Import{Schema: result.ImportSchema, Import: result.ImportSource{Tool: "x", Files: []result.Artifact{file}},
		Points: []result.ImportPoint{{ID: "c2", Phase: "sweep", Concurrency: 2, Issued: &ten, Completed: &ten}}})
	if err != nil {
		t.Fatal(err)
	}
	return newRun(result.Result{Plan: plan, Artifacts: []result.Artifact{file}, Points: []result.Point{{ID: "c2", State: result.PointValid, Imported: &result.Imported{}}}})
}

func readingOf(completed int) *runner.Reading {
	active, n := 2.0, int64(completed)
	s := metrics.Summary{RequestsIssued: 10, RequestsCompleted: completed, DurationS: 1, ActiveMean: &active, TTFTMS: &metrics.Distribution{N: n}}
	return &runner.Reading{Whole: record.Whole{Requests: 10}, Metrics: s, MLPerf: &s}
}

// TestForeignPoint: a point that hides failures cannot be told as valid by who packs it either.
func TestForeignPoint(t *testing.T) {
	n := foreignRun(t)
	if got := n.allPoints(); len(got) != 1 || got[0].ID != "c2" || got[0].Concurrency != 2 {
		t.Fatalf("%+v", got)
	}
	told := n.result.Points[0]
	told.Recording = &result.Recording{}
	if bad := n.overstated(&point{made: readingOf(10)}, told); bad != "" {
		t.Errorf("a good point: %s", bad)
	}
	if bad := n.overstated(&point{made: readingOf(8)}, told); !strings.Contains(bad, "failures_hidden") {
		t.Errorf("failures hidden: %q", bad)
	}
	told.Imported = nil
	if bad := n.overstated(&point{made: readingOf(10)}, told); bad == "" {
		t.Error("whose it is may be left out")
	}
}

// TestForeignFiles: the client's files must be there as they were given.
func TestForeignFiles(t *testing.T) {
	n := foreignRun(t)
	if l := n.foreignLine(); l.State != OK {
		t.Errorf("%+v", l)
	}
	n.result.Artifacts[0].SHA256 = "other"
	if l := n.foreignLine(); l.State != Fail || !strings.Contains(l.Text, "imported/x.json") {
		t.Errorf("%+v", l)
	}
}
