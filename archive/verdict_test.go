package archive

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"assay/plan"
	"assay/result"
	"assay/runner"
	"assay/runner/metrics"
)

// A recording that is lost costs its own point, and of the others only what is a share of the best point.
func TestALostRecordingLeavesTheOthers(t *testing.T) {
	tests := []struct {
		name   string
		change func(t *testing.T, all []entry) []entry
		want   string
	}{
		{"cut off", func(_ *testing.T, all []entry) []entry { return all[:len(all)-1] }, "could not be recomputed"},
		{"a byte of its numbers", func(t *testing.T, all []entry) []entry {
			e := at(t, all, "recordings/c4.rec")
			e.body[len(e.body)-20] ^= 1 // of the last block
			return all
		}, "its recording cannot be read"},
		{"the recording of another point in its place", func(t *testing.T, all []entry) []entry {
			e := at(t, all, "recordings/c4.rec")
			e.body = bytes.Clone(at(t, all, "recordings/c1.rec").body)
			resizeIn(t, all, "recordings/c4.rec", len(e.body))
			return all
		}, "its recording recordings/c4.rec was changed"},
	}
	dir, _ := makeRun(t)
	packed := pack(t, dir)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := check(t, repack(t, tt.change(t, unpack(t, packed)), ""))
			for _, l := range r.Lines {
				switch l.What {
				case "point c1":
					if l.State != OK || !strings.HasSuffix(l.Text, "; utilization not recomputed: point c4 is unreadable") {
						t.Errorf("%+v", l)
					}
				case "point c4":
					if l.State != Fail || !strings.Contains(l.Text, tt.want) {
						t.Errorf("%+v, want %q", l, tt.want)
					}
				}
			}
			if r.OK {
				t.Error("the archive passed")
			}
		})
	}
}

// resizeIn makes the manifest tell another size of a file, so that only its hash is wrong.
func resizeIn(t *testing.T, all []entry, path string, size int) {
	t.Helper()
	e := at(t, all, manifestName)
	var m Manifest
	if err := json.Unmarshal(e.body, &m); err != nil {
		t.Fatal(err)
	}
	for i := range m.Files {
		if m.Files[i].Path == path {
			m.Files[i].Bytes = int64(size)
		}
	}
	e.body = mustJSON(t, m)
}

func TestOverstated(t *testing.T) {
	float := func(v float64) *float64 { return &v }
	sweep := plan.Point{ID: "c2", Phase: plan.PhaseSweep, Concurrency: 2}
	good := metrics.Summary{DurationS: 1, RequestsIssued: 1000, RequestsCompleted: 990, SystemTPS: float(50), ActiveMean: float(2)}
	tests := []struct {
		name    string
		planned plan.Point
		change  func(*metrics.Summary)
		state   result.PointState
		want    string
	}{
		{"good", sweep, func(*metrics.Summary) {}, result.PointValid, ""},
		{"no request to its end", sweep, func(s *metrics.Summary) { s.RequestsCompleted = 0 }, result.PointValid, "no_requests"},
		{"the same in a cell", plan.Point{Phase: plan.PhaseDecode}, func(s *metrics.Summary) { s.RequestsCompleted = 0 }, result.PointQueued, ""},
		{"too many failed", sweep, func(s *metrics.Summary) { s.RequestsFailed = 11 }, result.PointValid, "errors"},
		{"told as it is", sweep, func(s *metrics.Summary) { s.RequestsFailed = 11 }, result.PointNotValid, ""},
		{"slots that may have waited for tools", sweep, func(s *metrics.Summary) { s.ActiveMean = float(0.5) }, result.PointValid, ""},
	}
	for _, tt := range tests {
		s := good
		tt.change(&s)
		p := point{planned: tt.planned, made: &runner.Reading{Metrics: s}}
		got := (&run{}).overstated(&p, result.Point{State: tt.state, Recording: &result.Recording{WindowUS: [2]int64{0, 1_000_000}}})
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
