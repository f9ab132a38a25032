package proof

import (
	"slices"
	"testing"

	"assay/containers"
	"assay/containers/launch"
	"assay/probes"
)

func TestLaunched(t *testing.T) {
	for _, c := range []struct {
		launch *launch.Record
		want   probes.CheckState
	}{
		{nil, ""},
		{&launch.Record{}, probes.CheckOK},
		{&launch.Record{Differs: []string{`CPUs: "0-3" was asked for, it is "0-1"`}}, probes.CheckWarn},
	} {
		all := Checks(Request{Server: containers.Identity{Launch: c.launch}})
		got := slices.DeleteFunc(all, func(check probes.Check) bool { return check.ID != "server_launch" })
		if c.want == "" {
			if len(got) > 0 {
				t.Errorf("%+v", got)
			}
			continue
		}
		if len(got) != 1 || got[0].State != c.want || c.want == probes.CheckWarn && (got[0].Evidence[0] != c.launch.Differs[0] || got[0].Hint == "") {
			t.Errorf("%+v", got)
		}
	}
}
