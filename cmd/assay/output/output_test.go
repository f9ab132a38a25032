package output

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"assay/fault"
)

// TestWrite: a file appears whole or not at all, and what was there stays until then.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a")
	broken := errors.New("no more")
	for _, c := range []struct {
		write func(io.Writer) error
		want  string
		err   error
	}{
		{Bytes([]byte("one")), "one", nil},
		{func(w io.Writer) error { _, _ = w.Write([]byte("tw")); return broken }, "one", broken},
		{Bytes([]byte("two")), "two", nil},
	} {
		if err := Write(fault.Archive, name, c.write); !errors.Is(err, c.err) {
			t.Errorf("%v, want %v", err, c.err)
		}
		if b, err := os.ReadFile(name); string(b) != c.want || err != nil {
			t.Errorf("%q, want %q (%v)", b, c.want, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
	if err := errors.Join(Writable(fault.Archive, os.DevNull), Write(fault.Archive, os.DevNull, Bytes([]byte("x")))); err != nil {
		t.Errorf("a device: %v", err)
	}
}

// TestNotWritable: a place that takes no file is told before and after the work by the same fault.
func TestNotWritable(t *testing.T) {
	for _, name := range []string{t.TempDir(), filepath.Join(t.TempDir(), "absent", "a")} {
		for what, err := range map[string]error{"before": Writable(fault.Client, name), "after": Write(fault.Client, name, Bytes(nil))} {
			if f := fault.Of(err, fault.Plan); f == nil || f.Layer != fault.Client || f.Code != "client.not_writable" || f.Hint == "" {
				t.Errorf("%s %s: %v", what, name, err)
			}
		}
	}
}
