package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/result"
)

func noted(concurrency int, notes ...string) result.Point {
	return result.Point{Concurrency: &concurrency, Notes: notes}
}

func TestNotes(t *testing.T) {
	bad := "7 lines of the dataset could not be used: line 3: not UTF-8"
	got := Notes(result.Result{Points: []result.Point{noted(1, bad), noted(2, "other", bad), noted(4, "all"), noted(5, "all"), noted(6, "all"), noted(7, "all"), noted(8, "all")}})
	want := []string{"C1, C2: " + bad, "C2: other", "5 points: all"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestEveryFormatForPeopleHasTheNotes: a valid point too.
func TestEveryFormatForPeopleHasTheNotes(t *testing.T) {
	in := tinyInput()
	in.Result.Points[0].Notes = []string{"7 lines of the dataset could not be used"}
	for _, f := range []Format{textFormat(), markdownFormat(), htmlFormat(), csvFormat()} {
		var b bytes.Buffer
		if err := f.Write(&b, in); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), "7 lines of the dataset could not be used") {
			t.Errorf("%s does not tell them", f.Name)
		}
	}
}
