package weights

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// look reads the beginning of a file by its format; what is wrong is said under the file's name, and nothing when all is right.
func look(file string, format func(r io.Reader, size int64) error) (wrong []string) {
	base := filepath.Base(file)
	f, err := os.Open(file)
	if err != nil {
		return []string{base + " cannot be read: " + reason(err)}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return []string{base + " cannot be read: " + reason(err)}
	}
	if pointer(file, info.Size()) {
		return []string{base + lfsPointer}
	}
	if err := format(f, info.Size()); err != nil {
		return []string{base + " " + err.Error()}
	}
	return nil
}

func reason(err error) string {
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Err.Error()
	}
	return err.Error()
}

const lfsPointer = " is a pointer of git-lfs, not the file itself"

// pointer: what git leaves in the place of a large file that was not fetched.
func pointer(file string, size int64) bool {
	if size > 1024 {
		return false
	}
	b, err := os.ReadFile(file)
	return err == nil && strings.HasPrefix(string(b), "version https://git-lfs.github.com/spec/")
}
