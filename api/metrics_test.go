package api

import (
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"assay/result"
)

func TestMetrics(t *testing.T) {
	f := newFixture(t)
	f.endedRun()
	f.move(f.queueRun().ID, result.Canceled)
	f.queueRun()
	f.queueRun()
	a := f.do("GET", "/metrics", "")
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(string(a.body)))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`assay_runs{state="queued"} 2`, `assay_runs{state="done"} 1`, `assay_runs{state="canceled"} 1`, `assay_runs{state="running"} 0`,
		`assay_queue_depth 2`, `assay_run_system_tps{name="sample"} 180.5`, `assay_build_info{commit="abc1234",go="go1.26",version="0.1.0"} 1`,
		`assay_run_last_end_timestamp_seconds{name="sample"}`,
	} {
		if !strings.Contains(string(a.body), "\n"+want) {
			t.Errorf("missing %s", want)
		}
	}
	for _, name := range []string{"go_goroutines", "process_resident_memory_bytes", "assay_run_duration_seconds"} {
		if families[name] == nil {
			t.Errorf("missing %s", name)
		}
	}
	if strings.Contains(string(a.body), "id=") {
		t.Error("an id is a label")
	}
}

func TestMetricsSayWhenTheStoreIsAway(t *testing.T) {
	f := newFixture(t)
	f.Store.Close()
	if a := f.do("GET", "/metrics", ""); a.status != 500 {
		t.Errorf("status %d, want 500", a.status)
	}
}
