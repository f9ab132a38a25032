package store

import "testing"

// FuzzCursor: a cursor that is taken names a run; ours are read back.
func FuzzCursor(f *testing.F) {
	f.Add(cursor(Run{ID: "r", CreatedUS: 7}))
	f.Add("====")
	f.Fuzz(func(t *testing.T, text string) {
		created, id, err := readCursor(text)
		if err != nil {
			return
		}
		again, name, err := readCursor(cursor(Run{ID: id, CreatedUS: created}))
		if err != nil || again != created || name != id || id == "" {
			t.Errorf("%q: %d %q, and back %d %q: %v", text, created, id, again, name, err)
		}
	})
}
