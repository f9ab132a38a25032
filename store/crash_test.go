package store

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"assay/result"
)

// childVariable names the data directory to TestWriteForEver, which does nothing without it.
const childVariable = "ASSAY_TEST_STORE_CHILD"

// TestWriteForEver is the child of TestKillLosesNothing: it stores points and says so after each, until it is killed.
func TestWriteForEver(t *testing.T) {
	dir := os.Getenv(childVariable)
	if dir == "" {
		return
	}
	s := openStoreIn(t, dir)
	addRun(t, s, "r1", result.Running)
	for i := 0; ; i++ {
		if err := s.PutPoint(t.Context(), "r1", i, point(fmt.Sprint("c", i), summary(float64(i), 1))); err != nil {
			t.Fatal(err)
		}
		fmt.Println(i)
	}
}

// After kill -9 every point that was stored is there, and the database is whole.
func TestKillLosesNothing(t *testing.T) {
	dir := t.TempDir()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestWriteForEver$")
	child.Env = append(os.Environ(), childVariable+"="+dir)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	stored := 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if n, err := strconv.Atoi(lines.Text()); err == nil {
			stored = n + 1
		}
		if stored == 40 {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	child.Wait() // it was killed: the error says so
	if stored < 40 {
		t.Fatalf("the child stored %d points", stored)
	}
	s := openStoreIn(t, dir)
	points, err := s.Points(t.Context(), "r1")
	if err != nil || len(points) < stored {
		t.Errorf("%d points are there, %v; %d were stored", len(points), err, stored)
	}
	for i, p := range points {
		if p.ID != fmt.Sprint("c", i) {
			t.Fatalf("point %d is %s", i, p.ID)
		}
	}
	if check := column(t, s, `PRAGMA integrity_check`); len(check) != 1 || check[0] != "ok" {
		t.Errorf("integrity check: %v", check)
	}
	running, err := s.Running(t.Context())
	if err != nil || len(running) != 1 {
		t.Errorf("the killed run is not among the running ones: %v, %v", running, err)
	}
}

func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		if err := openAndClose(b.Context(), dir); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPutPoint(b *testing.B) {
	s, err := Open(b.Context(), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	if err := s.CreateRun(b.Context(), Run{ID: "r1"}); err != nil {
		b.Fatal(err)
	}
	p := point("c1", summary(1, 2))
	for b.Loop() {
		if err := s.PutPoint(b.Context(), "r1", 0, p); err != nil {
			b.Fatal(err)
		}
	}
}
