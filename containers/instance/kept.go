package instance

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// KeptFile is a file that an instance was started with.
type KeptFile struct {
	Path   string `json:"path"` // in the run's folder
	SHA256 string `json:"sha256"`
}

// Kept tells of the files of a spec, once it was started.
func (s Spec) Kept() ([]KeptFile, error) {
	var out []KeptFile
	for _, f := range s.Files {
		sum, err := FileSHA256(filepath.Join(s.Dir, f.Name))
		if err != nil {
			return nil, fmt.Errorf("hash %s: %w", f.Name, err)
		}
		out = append(out, KeptFile{f.Name, sum})
	}
	return out, nil
}

// FileSHA256 is the digest of a file, in hex.
func FileSHA256(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
