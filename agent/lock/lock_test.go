package lock

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"assay/fault"
)

func TestLockIsHeldOnce(t *testing.T) {
	dir := t.TempDir()
	l, _, err := Take(dir, "/run/assay.sock")
	if err != nil {
		t.Fatal(err)
	}
	want := Holder{PID: os.Getpid(), Socket: "/run/assay.sock"}
	if _, h, err := Take(dir, "other"); !errors.Is(err, ErrHeld) || h != want {
		t.Errorf("second lock: %+v, %v", h, err)
	}
	if held, h, err := HolderOf(dir); !held || h != want || err != nil {
		t.Errorf("holder: %v %+v, %v", held, h, err)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	if held, _, err := HolderOf(dir); held || err != nil {
		t.Errorf("after release: held %v, %v", held, err)
	}
	l, _, err = Take(dir, "")
	if err != nil {
		t.Fatalf("HolderOf kept the lock: %v", err)
	}
	defer l.Release()
	if _, h, _ := HolderOf(dir); h != (Holder{PID: os.Getpid()}) {
		t.Errorf("the earlier, longer holder shows: %+v", h)
	}
}

func TestLockWithAHolderThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	l, _, err := Take(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	if err := os.WriteFile(filepath.Join(dir, "lock"), []byte(`{"pid": 1`), 0o600); err != nil {
		t.Fatal(err)
	}
	if held, h, err := HolderOf(dir); !held || h != (Holder{}) || err != nil {
		t.Errorf("held %v by %+v, %v", held, h, err)
	}
}

func TestLockOfNoDirectory(t *testing.T) {
	_, _, err := Take(filepath.Join(t.TempDir(), "absent"), "")
	if f := fault.Of(err, fault.Client); f == nil || f.Code != "store.not_writable" || f.Hint == "" {
		t.Errorf("%v", err)
	}
}
