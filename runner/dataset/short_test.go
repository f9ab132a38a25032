package dataset

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/fault"
)

// TestUselessTextSaysWhy: the fault itself tells what is missing, so that it reaches the user.
func TestUselessTextSaysWhy(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "README.md"), []byte("a b c d"), 0o600); err != nil {
		t.Fatal(err)
	}
	lines := write(t, "ok.txt", "one two\nthree four\nfive\n")
	for _, c := range []struct{ path, want string }{
		{folder, "no *.txt file"},
		{lines, "ok.txt is too short: a prompt needs 6 words"},
		{write(t, "empty.txt", ""), "the file is empty"},
	} {
		_, err := Open(t.Context(), Config{Kind: "text", InputLen: 6, Path: c.path})
		if f := fault.Of(err, fault.Client); f == nil || f.Code != "client.dataset_empty" || !strings.Contains(f.Text, c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	got := take(t, open(t, Config{Kind: "text", InputLen: 5, Path: lines}), 1)
	if text := got[0].Turns[0].Messages[0].Content; text != "one two three four five" {
		t.Errorf("%q", text)
	}
}
