package verdict

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/result"
)

func TestOf(t *testing.T) {
	point := func(id string, s result.PointState, codes ...string) result.Point {
		p := result.Point{ID: id, State: s}
		for _, code := range codes {
			p.Reasons = append(p.Reasons, result.Reason{Code: code, Text: "text", Evidence: "seen"})
		}
		return p
	}
	cases := []struct {
		name    string
		state   result.State
		points  []result.Point
		stops   []result.Stop
		verdict string
		reasons []string
	}{
		{"valid", result.Done, []result.Point{point("c1", result.PointValid)}, nil, result.Valid, nil},
		{"a remark on a valid point is no reason", result.Done, []result.Point{point("c1", result.PointValid, "errors")}, nil, result.Valid, nil},
		{"queued and over capacity are results", result.Done,
			[]result.Point{point("a", result.PointQueued, "queue_seen"), point("b", result.PointOver, "kv_precheck")}, nil, result.Valid, nil},
		{"each reason of each bad point", result.Done,
			[]result.Point{point("a", result.PointNotValid, "x", "y"), point("b", result.PointFailed, "z"), point("c", result.PointSkipped)},
			nil, result.NotValid, []string{"x point a: text", "y point a: text", "z point b: text", "point point c is skipped"}},
		{"not finished", result.Interrupted, []result.Point{point("a", result.PointValid)}, nil, result.NotValid,
			[]string{"not_finished the run did not finish: interrupted"}},
		{"servers that ended as they were asked to", result.Done, []result.Point{point("c1", result.PointValid)}, []result.Stop{{Role: "server", Name: "a", How: result.StopKilled}}, result.Valid, nil},
		{"a server that was started again", result.Done, []result.Point{point("c1", result.PointValid)}, []result.Stop{{Role: "server", Name: "a", Restarts: 2}},
			result.NotValid, []string{"restarted the container engine started the server again during the run"}},
		{"failed before any point", result.Failed, nil, nil, result.NotValid, []string{"not_finished the run did not finish: failed"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			verdict, reasons := Of(c.state, c.points, c.stops)
			var got []string
			for _, r := range reasons {
				got = append(got, r.Code+" "+r.Text)
			}
			if diff := cmp.Diff(c.reasons, got); diff != "" || verdict != c.verdict || reasons == nil {
				t.Errorf("%s, reasons %v\n%s", verdict, reasons, diff)
			}
		})
	}
}
