package main

import (
	"strings"
	"testing"

	"assay/result"
	"assay/store"
)

// TestNodeThatIsDirty: a plan is refused with exit code 3 here and by a daemon, `assay node` and `assay status` say why, and it runs again
// once the operator has taken the machine as it is.
func TestNodeThatIsDirty(t *testing.T) {
	for _, daemon := range []bool{false, true} {
		p := newProgram(t)
		if r := p.must(0, "node"); r.stdout != "node ready\n" {
			t.Errorf("a new data directory: %q", r.stdout)
		}
		p.must(0, "node", "check")
		used := int64(120 << 30)
		dirty := result.Node{State: result.NodeDirty, Marks: []result.Mark{{State: result.NodeDirty, Code: result.MarkMemoryHeld, Device: "0000:35:00.0", Text: "GPU 3 holds 120.0 GiB more than before the run, by pid 812 python3",
			Hint: "end pid 812 python3", SinceUS: 1, Run: "r1", Held: &result.Held{BeforeBytes: new(int64), UsedBytes: &used}}}}
		st, err := store.Open(t.Context(), p.data)
		if err != nil {
			t.Fatal(err)
		}
		if err := st.PutNode(t.Context(), dirty); err != nil {
			t.Fatal(err)
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
		if daemon {
			p.serve("--memory-wait", "1ms")
		}
		for _, args := range [][]string{{"node"}, {"node", "check"}, {"status"}} {
			code := map[bool]int{true: exitValid, false: exitPreflight}[args[0] == "status"]
			if r := p.must(code, args...); !strings.Contains(r.stdout, "by pid 812 python3") || !strings.Contains(r.stdout, "do: end pid 812 python3") {
				t.Errorf("%v:\n%s", args, r.stdout)
			}
		}
		if daemon {
			if r := p.must(exitPreflight, "run", writePlan(t, simPlan(""))); !strings.Contains(r.stdout, "preflight.node_dirty") {
				t.Errorf("%s", r.stdout)
			}
		}
		if r := p.must(0, "node", "accept"); !strings.HasPrefix(r.stdout, "node ready, looked at ") {
			t.Errorf("%s", r.stdout)
		}
		p.must(0, "node", "--json")
	}
}
