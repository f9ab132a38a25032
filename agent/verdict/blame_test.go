package verdict

import (
	"testing"

	"assay/result"
)

func TestBlame(t *testing.T) {
	for _, c := range []struct {
		state result.PointState
		fatal bool
		want  result.PointState
	}{
		{result.PointValid, true, result.PointNotValid},
		{result.PointValid, false, result.PointValid},
		{result.PointNotValid, true, result.PointNotValid},
		{result.PointFailed, true, result.PointFailed},
		{result.PointOver, true, result.PointOver},
		{result.PointQueued, true, result.PointQueued},
		{"", true, ""},
	} {
		p := result.Point{State: c.state, Reasons: []result.Reason{{Code: "first"}}}
		Blame(&p, result.Reason{Code: "second"}, c.fatal)
		if p.State != c.want || len(p.Reasons) != 2 || p.Reasons[1].Code != "second" {
			t.Errorf("%q, fatal %v: %q, %v", c.state, c.fatal, p.State, p.Reasons)
		}
	}
}
