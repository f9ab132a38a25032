package logs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEachStartHasItsOwnLog(t *testing.T) {
	dir := t.TempDir()
	for _, want := range []string{"server.log", "server-2.log", "server-3.log"} {
		f, err := Create(dir, "server")
		if err != nil || filepath.Base(f.Name()) != want {
			t.Fatalf("%v, %v, want %s", f, err, want)
		}
		f.Close()
	}
	if _, err := Create(filepath.Join(dir, "none"), "server"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestLogKeepsBeginningAndEnd(t *testing.T) {
	f, err := Create(t.TempDir(), "server")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fmt.Fprint(f, "BEGIN", strings.Repeat("x", 1000), "END")
	if err := Cut(f, 500, 100, 50); err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(f, "MORE")
	b, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	got := string(b)
	if !strings.HasPrefix(got, "BEGIN") || !strings.HasSuffix(got, "ENDMORE") || !strings.Contains(got, "[858 bytes were cut out here]") || len(got) > 250 {
		t.Errorf("log %q", got)
	}
}
