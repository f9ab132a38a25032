package api

import (
	"net/http"
	"strings"
	"testing"

	"assay/result"
)

// TestNode: what is against the machine is told, with who holds what; it shows among the metrics, and goes when it is accepted.
func TestNode(t *testing.T) {
	f := newFixture(t)
	node := func(method, path string) result.Node {
		t.Helper()
		a := f.do(method, path, "")
		if a.status != http.StatusOK {
			t.Fatalf("%s %s: %d %s", method, path, a.status, a.body)
		}
		return decode[result.Node](t, a.body)
	}
	if n := node(http.MethodGet, "/api/v1/node"); n.State != result.NodeReady || n.Marks == nil || n.Devices == nil {
		t.Errorf("a new machine: %+v", n)
	}
	used := int64(120 << 30)
	dirty := result.Node{State: result.NodeDirty, Devices: []result.Device{{Address: "0000:1b:00.0", SeenUS: 1}}, Marks: []result.Mark{{State: result.NodeDirty, Code: result.MarkMemoryHeld,
		Device: "0000:1b:00.0", Text: "GPU 0 holds 120.0 GiB", SinceUS: 1, Run: "r1", Held: &result.Held{UsedBytes: &used, Holders: []result.Holder{{PID: 812, Name: "python3"}}}}}}
	if err := f.Store.PutNode(t.Context(), dirty); err != nil {
		t.Fatal(err)
	}
	for _, call := range [][2]string{{http.MethodGet, "/api/v1/node"}, {http.MethodPost, "/api/v1/node/check"}} {
		if n := node(call[0], call[1]); n.State != result.NodeDirty || n.Marks[0].Held.Holders[0].PID != 812 {
			t.Errorf("%s: %+v", call, n)
		}
	}
	for state, is := range map[string]string{"ready": "0", "dirty": "1", "unfit": "0"} {
		if line := `assay_node_state{state="` + state + `"} ` + is + "\n"; !strings.Contains(string(f.do(http.MethodGet, "/metrics", "").body), line) {
			t.Errorf("missing %s", line)
		}
	}
	if n := node(http.MethodPost, "/api/v1/node/accept"); n.State != result.NodeReady || len(n.Marks) > 0 {
		t.Errorf("accepted: %+v", n)
	}
}

// A machine that takes no runs says so on every page: why, who holds it, and what can be done.
func TestPagesSayThatTheNodeIsNotReady(t *testing.T) {
	f := newFixture(t)
	paths := []string{"/", "/schedules", "/machine", "/runs/" + f.queueRun().ID}
	for _, path := range paths {
		if a := f.do("GET", path, ""); strings.Contains(string(a.body), `id="node"`) {
			t.Errorf("%s: a ready machine is complained of", path)
		}
	}
	f.dirty()
	for _, path := range paths {
		contains(t, f.do("GET", path, ""), "takes no runs", ">dirty<", "GPU 0 holds 120.0 GiB", "by pid 812 python3 &lt;x&gt;", "end process 812", `href="/runs/r1"`, `action="/node/check"`)
	}
	if a := f.form("/node/check", nil); a.status != http.StatusSeeOther {
		t.Errorf("look again: %d %s", a.status, a.body)
	}
	contains(t, f.do("GET", "/", ""), "takes no runs")
	if a := f.form("/node/accept", nil); a.status != http.StatusSeeOther {
		t.Errorf("take it as it is: %d %s", a.status, a.body)
	}
	if a := f.do("GET", "/", ""); strings.Contains(string(a.body), "takes no runs") {
		t.Error("the machine was taken as it is, and is complained of")
	}
}

// dirty has the machine marked.
func (f *fixture) dirty() {
	f.t.Helper()
	used, held := int64(120<<30), int64(1197<<30)/10
	n := result.Node{State: result.NodeDirty, Devices: []result.Device{{Address: "0000:1b:00.0", SeenUS: 1}}, Marks: []result.Mark{{State: result.NodeDirty, Code: result.MarkMemoryHeld, Device: "0000:1b:00.0",
		Text: "GPU 0 holds 120.0 GiB more than before the run, by pid 812 python3 <x> (119.7 GiB)", Hint: "end process 812", SinceUS: 1796079685_000000, Run: "r1", Held: &result.Held{UsedBytes: &used, Holders: []result.Holder{{PID: 812, Name: "python3 <x>", Bytes: &held}}}}}}
	if err := f.Store.PutNode(f.t.Context(), n); err != nil {
		f.t.Fatal(err)
	}
}
