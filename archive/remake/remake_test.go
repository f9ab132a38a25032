package remake

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/plan"
	"assay/result"
	"assay/runner"
	"assay/runner/imported"
)

// testdata is where the importers have files of each tool.
const testdata = "../../runner/imported/testdata"

// laidAside takes the files of a folder as an archive would bring them, each changed by change.
func laidAside(t *testing.T, from, to string, change func([]byte) []byte) *Files {
	t.Helper()
	src, err := imported.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	f := &Files{}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, name := range src.Files {
		b, err := os.ReadFile(src.Path(name))
		if err != nil {
			t.Fatal(err)
		}
		b = change(b)
		f.Take(to+"/"+name, int64(len(b)), bytes.NewReader(b))
	}
	return f
}

func same(b []byte) []byte { return b }

// later moves a request by a second.
func later(b []byte) []byte {
	return bytes.ReplaceAll(b, []byte("1770000000180"), []byte("1770000001180"))
}

// importOf is a run that was imported.
func importOf(t *testing.T, from string) result.Result {
	t.Helper()
	src, err := imported.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	format, own, err := imported.Find(src, "")
	if err != nil {
		t.Fatal(err)
	}
	found, err := imported.Survey(format, own)
	if err != nil {
		t.Fatal(err)
	}
	points, err := found.Points(t.TempDir(), "run-1")
	if err != nil {
		t.Fatal(err)
	}
	document, _, err := found.Document(nil)
	if err != nil {
		t.Fatal(err)
	}
	return result.Result{Run: result.Run{ID: "run-1"}, Plan: document, Points: points}
}

// TestImport: the recordings of an import are those that its files give, and no others.
func TestImport(t *testing.T) {
	from := filepath.Join(testdata, "aiperf")
	r := importOf(t, from)
	differ, n, err := laidAside(t, from, "imported", same).Differ(r)
	if err != nil || n != 1 || len(differ) != 0 {
		t.Errorf("%d made, %v, %v", n, differ, err)
	}
	differ, n, err = laidAside(t, from, "imported", later).Differ(r)
	if err != nil || n != 0 || !strings.Contains(differ["c2"], "not the one that the client's files give") {
		t.Errorf("%d made, %v, %v", n, differ, err)
	}
	differ, n, err = laidAside(t, from, "elsewhere", same).Differ(r)
	if err != nil || n != 0 || !strings.Contains(differ["c2"], "cannot be made") {
		t.Errorf("%d made, %v, %v", n, differ, err)
	}
}

// plannedOf is a run whose plan names aiperf: its point, and the run's folder.
func plannedOf(t *testing.T) result.Result {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "client/c2/artifacts"), os.DirFS(filepath.Join(testdata, "aiperf"))); err != nil {
		t.Fatal(err)
	}
	m, err := imported.Planned{Dir: dir, Run: "run-1", At: plan.Point{ID: "c2", Phase: plan.PhaseSweep, Concurrency: 2},
		By: runner.Foreign{Kind: "aiperf", Format: "aiperf", Dir: "client/c2", Results: "artifacts"}}.Import()
	if err != nil {
		t.Fatal(err)
	}
	return result.Result{Run: result.Run{ID: "run-1"}, Plan: []byte("{}"), Points: []result.Point{m.Point}}
}

// TestPlanned: the same of a point that a plan's client measured.
func TestPlanned(t *testing.T) {
	r := plannedOf(t)
	from := filepath.Join(testdata, "aiperf")
	if differ, n, err := laidAside(t, from, "client/c2/artifacts", same).Differ(r); err != nil || n != 1 || len(differ) != 0 {
		t.Errorf("%d made, %v, %v", n, differ, err)
	}
	if differ, _, err := laidAside(t, from, "client/c2/artifacts", later).Differ(r); err != nil || differ["c2"] == "" {
		t.Errorf("%v, %v", differ, err)
	}
}

// TestTake: only files of clients are laid aside, and only inside the folder.
func TestTake(t *testing.T) {
	var f Files
	for _, name := range []string{"recordings/c2.rec", "client/../../x", "/client/x", "imported/../../y"} {
		f.Take(name, 1, strings.NewReader("x"))
	}
	if f.dir != "" || f.err != nil {
		t.Errorf("%+v", f)
	}
	f.Take("client/c2/big", mostBytes+1, strings.NewReader("x"))
	if _, _, err := f.Differ(result.Result{}); err == nil {
		t.Error("too much is laid aside")
	}
}
