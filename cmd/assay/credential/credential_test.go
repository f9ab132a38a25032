package credential

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestFirst(t *testing.T) {
	dir := t.TempDir()
	env := map[string]string{directory: dir, "BOTH": "variable", "VARIABLE": "variable", "../secret": "", "FOLDER": "variable"}
	err := errors.Join(os.WriteFile(filepath.Join(dir, "BOTH"), []byte("credential\n"), 0o400), os.Mkdir(filepath.Join(dir, "FOLDER"), 0o700),
		os.WriteFile(filepath.Join(dir, "LARGE"), make([]byte, most+1), 0o400), os.WriteFile(filepath.Join(dir, "ALONE"), []byte("with a space "), 0o400), os.WriteFile(filepath.Join(filepath.Dir(dir), "secret"), []byte("outside"), 0o400))
	if err != nil {
		t.Fatal(err)
	}
	getenv := func(name string) string { return env[name] }
	for name, want := range map[string]string{"BOTH": "credential", "VARIABLE": "variable", "ALONE": "with a space ", "NONE": "", "../secret": "", "": "", ".": "", "FOLDER": "variable"} {
		if got := First(getenv)(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if File(getenv, "FOLDER") != "" || File(getenv, "LARGE") != "" {
		t.Error("what is no credential has a file")
	}
	if File(getenv, "BOTH") != filepath.Join(dir, "BOTH") || File(func(string) string { return "" }, "BOTH") != "" {
		t.Error("the file of a credential")
	}
}
