package dataset

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// hashStep is how much of a file is read between two looks at whether it is still wanted.
const hashStep = 4 << 20

// Hashes remembers the hashes of files, so that a run with many points reads a large file through once. A file whose size, time or inode
// has changed is read again. The zero value is ready; it may be used by several goroutines.
type Hashes struct {
	mu    sync.Mutex
	known map[string]knownHash // by path
}

type knownHash struct {
	files  []fs.FileInfo
	sha256 string
}

// Of is the hex SHA-256 of a file's bytes; of a folder, that of the lines "<sha256>  <path below it>\n" of its .txt files in the order of
// their paths. A nil h remembers nothing. When ctx ends it gives ctx's cause.
func (h *Hashes) Of(ctx context.Context, path string) (string, error) {
	if h == nil {
		return hashOf(ctx, path)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	before, err := infos(path)
	if err != nil {
		return "", unreadable(path, err)
	}
	if k, ok := h.known[path]; ok && slices.EqualFunc(k.files, before, unchanged) {
		return k.sha256, nil
	}
	sum, err := hashOf(ctx, path)
	if err != nil {
		return "", err
	}
	if h.known == nil {
		h.known = map[string]knownHash{}
	}
	h.known[path] = knownHash{before, sum}
	return sum, nil
}

func unchanged(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Name() == b.Name() && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// infos describes the files that a path's hash is of.
func infos(path string) ([]fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []fs.FileInfo{info}, err
	}
	files, err := textFiles(path)
	if err != nil {
		return nil, err
	}
	var list []fs.FileInfo
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			return nil, err
		}
		list = append(list, info)
	}
	return list, nil
}

func hashOf(ctx context.Context, path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", unreadable(path, err)
	}
	if !info.IsDir() {
		return hashFile(ctx, path)
	}
	files, err := textFiles(path)
	if err != nil {
		return "", unreadable(path, err)
	}
	var list bytes.Buffer
	for _, f := range files {
		h, err := hashFile(ctx, f)
		if err != nil {
			return "", err
		}
		below, err := filepath.Rel(path, f)
		if err != nil {
			return "", unreadable(f, err)
		}
		fmt.Fprintf(&list, "%s  %s\n", h, filepath.ToSlash(below))
	}
	return sum(list.Bytes()), nil
}

func hashFile(ctx context.Context, path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", unreadable(path, err)
	}
	defer f.Close()
	h := sha256.New()
	for ctx.Err() == nil {
		_, err := io.CopyN(h, f, hashStep)
		if errors.Is(err, io.EOF) {
			return hex.EncodeToString(h.Sum(nil)), nil
		}
		if err != nil {
			return "", unreadable(path, err)
		}
	}
	return "", context.Cause(ctx)
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}
