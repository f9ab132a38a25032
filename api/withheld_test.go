package api

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/store"
)

// TestWithheld: files that may hold a secret are shown under no name, and by no page; the rest is.
func TestWithheld(t *testing.T) {
	f := newFixture(t)
	run := f.endedRun()
	f.write(run.ID, "server.log", "the secret\n")
	if err := os.Symlink("server.log", filepath.Join(f.Store.RunDir(run.ID), "other")); err != nil {
		t.Fatal(err)
	}
	if err := f.Store.Withhold(t.Context(), store.Withheld{Run: run.ID, Names: []string{"TOKEN"}, Files: []string{"router.log", "server.log"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Store.IndexFiles(t.Context(), run.ID); err != nil {
		t.Fatal(err)
	}
	base := "/api/v1/runs/" + run.ID
	for path, status := range map[string]int{
		"/logs": 409, "/logs?name=server.log": 409, "/logs?name=none.log": 404, "/logs?tail=1": 409, "/files/server.log": 409, "/files/other": 409, "/files/none": 404,
		"/files/points/c1.rec": 200, "/files/result.json": 200, "/result": 200,
	} {
		got := f.do("GET", base+path, "")
		if got.status != status || strings.Contains(string(got.body), "the secret") || status == http.StatusConflict && got.problem(t).Code != "plan.withheld" {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	if page := f.do("GET", "/runs/"+run.ID, ""); strings.Contains(string(page.body), "the secret") || !strings.Contains(string(page.body), "may hold the value of TOKEN") {
		t.Errorf("the page: %s", page.body)
	}
	if err := f.Store.Withhold(t.Context(), store.Withheld{Run: run.ID}); err != nil {
		t.Fatal(err)
	}
	if got := f.do("GET", base+"/files/server.log", ""); got.status != http.StatusOK || string(got.body) != "the secret\n" {
		t.Errorf("released: %d %s", got.status, got.body)
	}
}
