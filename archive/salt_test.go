package archive

import "testing"

// TestSalt: a data directory with a key has one salt for ever, another directory another, and one without a key a new one each time.
func TestSalt(t *testing.T) {
	a, b, none := t.TempDir(), t.TempDir(), t.TempDir()
	for _, dir := range []string{a, b} {
		if _, err := LoadOrCreateKey(dir); err != nil {
			t.Fatal(err)
		}
	}
	salt := func(dir string, lasting bool) string {
		t.Helper()
		s, lasts := Salt(dir)
		if lasts != lasting || len(s) != 64 {
			t.Errorf("%s: %q, lasting %t", dir, s, lasts)
		}
		return s
	}
	if salt(a, true) != salt(a, true) || salt(a, true) == salt(b, true) || salt(none, false) == salt(none, false) {
		t.Error("the salts of two directories and of one without a key")
	}
}
