package store

import (
	"testing"

	"assay/result"
)

// dirtyNode is a node of one GPU that still holds memory.
func dirtyNode() result.Node {
	before, used := int64(1<<30), int64(120<<30)
	return result.Node{
		State: result.NodeDirty, SeenUS: 9, BootKey: "b",
		Marks: []result.Mark{{State: result.NodeDirty, Code: result.MarkMemoryHeld, Device: "0000:1b:00.0", Text: "t", Hint: "h", SinceUS: 7, Run: "done",
			Held: &result.Held{BeforeBytes: &before, UsedBytes: &used, Holders: []result.Holder{{PID: 812, Name: "python3", Bytes: &used}}}}},
		Devices: []result.Device{{Address: "0000:1b:00.0", Vendor: "AMD", SerialHash: "00ff", VRAMBytes: 192 << 30, SeenUS: 7}},
	}
}

// TestNode: a new data directory knows nothing against its machine; what is put is what is read, also after the program was started anew,
// and does not go with the run that left it.
func TestNode(t *testing.T) {
	s := openStore(t)
	read := func(s *Store) result.Node {
		t.Helper()
		n, err := s.Node(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	ready := result.Node{State: result.NodeReady, Marks: []result.Mark{}, Devices: []result.Device{}}
	equal(t, "new", read(s), ready)
	addRun(t, s, "done", result.Done)
	for _, n := range []result.Node{dirtyNode(), ready, dirtyNode()} {
		if err := s.PutNode(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		equal(t, "put", read(s), n)
	}
	if err := s.DeleteRun(t.Context(), "done"); err != nil {
		t.Fatal(err)
	}
	equal(t, "opened again", read(openStoreIn(t, s.Dir())), dirtyNode())
}

// TestNodeOfAnEarlierVersion: a database from before there was such a state is ready, and one of today keeps it.
func TestNodeOfAnEarlierVersion(t *testing.T) {
	for dump, want := range map[string]result.NodeState{"testdata/v0001.sql": result.NodeReady, "testdata/v0002.sql": result.NodeDirty} {
		n, err := openStoreIn(t, restore(t, dump)).Node(t.Context())
		if err != nil || n.State != want {
			t.Errorf("%s: %s, %v", dump, n.State, err)
		}
	}
}
