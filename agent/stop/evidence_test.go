package stop

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/containers"
	"assay/fault"
	"assay/result"
)

func TestEvidence(t *testing.T) {
	code := func(n int) *int { return &n }
	server := containers.Identity{Role: "server", Runtime: "docker", Name: "assay-1-server"}
	asked := Asked{By: result.AskedAtEnd, AtUS: 7}
	stuck := fault.New(fault.Server, "not_stopped", "reboot", "it does not end")
	away := fault.New(fault.Server, "docker_unreachable", "start it", "its engine is away")
	cases := []struct {
		name string
		id   containers.Identity
		exit containers.Exit
		err  error
		want []result.Stop
		text string
	}{
		{"within its grace", server, containers.Exit{Code: 0, Reason: "exited with code 0", Asked: true, Took: 1234 * time.Millisecond}, nil,
			[]result.Stop{{Role: "server", Name: "assay-1-server", How: result.StopGraceful, AskedBy: "end", AskedUS: 7, TookS: 1.234, ExitCode: code(0), Text: "exited with code 0"}},
			"server assay-1-server ended 1.2 s after it was asked: exited with code 0"},
		{"after its grace", server, containers.Exit{Code: 137, Signal: "SIGKILL", Reason: "was killed by signal 9", Asked: true, Killed: true, Took: 30 * time.Second}, nil,
			[]result.Stop{{Role: "server", Name: "assay-1-server", How: result.StopKilled, AskedBy: "end", AskedUS: 7, TookS: 30, ExitCode: code(137), Signal: "SIGKILL", Text: "was killed by signal 9"}},
			"server assay-1-server was killed, 30.0 s after it was asked: was killed by signal 9"},
		{"by itself, with code 0", server, containers.Exit{Code: 0, Reason: "exited with code 0"}, nil,
			[]result.Stop{{Role: "server", Name: "assay-1-server", How: result.StopByItself, ExitCode: code(0), Text: "exited with code 0"}},
			"server assay-1-server ended by itself: exited with code 0"},
		{"out of memory, started again", server, containers.Exit{Code: 137, Signal: "SIGKILL", OOM: true, Restarts: 2, Reason: "was killed for want of memory", Error: "oom"}, nil,
			[]result.Stop{{Role: "server", Name: "assay-1-server", How: result.StopByItself, ExitCode: code(137), Signal: "SIGKILL", OOMKilled: true, Restarts: 2, Text: "was killed for want of memory", Engine: "oom"}},
			"server assay-1-server ended by itself: was killed for want of memory"},
		{"removed by somebody", server, containers.Exit{Code: -1, Reason: "was removed by somebody else"}, nil,
			[]result.Stop{{Role: "server", Name: "assay-1-server", How: result.StopByItself, Text: "was removed by somebody else"}},
			"server assay-1-server ended by itself: was removed by somebody else"},
		{"it does not end", server, containers.Exit{}, stuck,
			[]result.Stop{{Role: "server", Name: "assay-1-server", How: result.StopStuck, AskedBy: "end", AskedUS: 7, Error: stuck}},
			"server assay-1-server does not end even when killed"},
		{"it ended and cannot be removed", server, containers.Exit{Code: 0, Reason: "exited with code 0", Asked: true, Took: time.Second}, stuck,
			[]result.Stop{{Role: "server", Name: "assay-1-server", How: result.StopGraceful, AskedBy: "end", AskedUS: 7, TookS: 1, ExitCode: code(0), Text: "exited with code 0", Error: stuck}},
			"server assay-1-server ended 1.0 s after it was asked: exited with code 0"},
		{"its engine went away", server, containers.Exit{Code: -1, Reason: "was lost", Away: away}, away,
			[]result.Stop{{Role: "server", Name: "assay-1-server", How: result.StopStuck, AskedBy: "end", AskedUS: 7, Text: "was lost", Error: away}},
			"server assay-1-server could not be stopped: its container engine does not answer"},
		{"somebody else's", containers.Identity{Runtime: "endpoint", Name: "http://10.0.0.1"}, containers.Exit{}, nil, nil, ""},
		{"of several, one hangs", containers.Identity{Role: "server", Runtime: "process", Name: "2 servers"},
			containers.Exit{Members: []containers.Exit{{Name: "pid 1", Code: 143, Signal: "SIGTERM", Reason: "was killed by signal 15 (terminated)", Asked: true}, {Name: "pid 2"}}}, stuck,
			[]result.Stop{{Role: "server", Name: "pid 1", How: result.StopGraceful, AskedBy: "end", AskedUS: 7, ExitCode: code(143), Signal: "SIGTERM", Text: "was killed by signal 15 (terminated)"},
				{Role: "server", Name: "pid 2", How: result.StopStuck, AskedBy: "end", AskedUS: 7, Error: stuck}},
			"server pid 1 ended 0.0 s after it was asked: was killed by signal 15 (terminated)"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := Evidence(c.id, c.exit, asked, c.err)
			if diff := cmp.Diff(c.want, got, cmp.Comparer(func(a, b error) bool { return a == b })); diff != "" {
				t.Error(diff)
			}
			if len(got) > 0 && Text(got[0]) != c.text {
				t.Errorf("text %q", Text(got[0]))
			}
		})
	}
}
