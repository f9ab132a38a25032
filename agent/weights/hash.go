package weights

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
	"strings"
	"sync"
	"sync/atomic"
)

// readers is how many files are read at once: what a fast disk can give, and two of the processor's cores hash it.
const readers = 4

// Manifest is the digests of a model's files, in the form of sha256sum: one line for each, in the order of their names.
type Manifest struct {
	Lines  []byte
	SHA256 string // of Lines or, when the model is one file, of the file
}

// Hash reads every file of a model whole. progress is told bytes done and in all, about each percent. Files that were not changed since they were
// hashed before are taken from known, to which the others are added; nil remembers nothing.
func Hash(ctx context.Context, path string, known *Known, progress func(done, total int64)) (Manifest, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Manifest{}, err
	}
	names := []string{filepath.Base(path)}
	dir := filepath.Dir(path)
	if info.IsDir() {
		dir = path
		if names, err = filesOf(path); err != nil {
			return Manifest{}, err
		}
	}
	sums, err := hashAll(ctx, dir, names, known, progress)
	if err != nil {
		return Manifest{}, err
	}
	var b bytes.Buffer
	for i, name := range names {
		fmt.Fprintf(&b, "%s  %s\n", sums[i], name)
	}
	m := Manifest{Lines: b.Bytes(), SHA256: fmt.Sprintf("%x", sha256.Sum256(b.Bytes()))}
	if !info.IsDir() {
		m.SHA256 = sums[0]
	}
	return m, nil
}

// filesOf lists the files of a folder and the folders in it, links included, in order. What begins with a dot is of the tool that fetched the model.
func filesOf(dir string) (names []string, err error) {
	err = filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := file != dir && strings.HasPrefix(e.Name(), ".")
		switch {
		case hidden && e.IsDir():
			return fs.SkipDir
		case hidden || e.IsDir():
			return nil
		}
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		if info.Mode().IsRegular() {
			name, err := filepath.Rel(dir, file)
			if err != nil {
				return err
			}
			names = append(names, name)
		}
		return nil
	})
	slices.Sort(names)
	return names, err
}

// hashAll hashes files side by side and gives their digests in the order of their names.
func hashAll(ctx context.Context, dir string, names []string, known *Known, progress func(done, total int64)) ([]string, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	total, err := sizeOf(dir, names)
	if err != nil {
		return nil, err
	}
	meter := &meter{total: total, told: -1, progress: progress}
	sums, next := make([]string, len(names)), atomic.Int64{}
	var all sync.WaitGroup
	for range min(readers, len(names)) {
		all.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(names) && ctx.Err() == nil; i = next.Add(1) - 1 {
				sum, err := hashFile(ctx, filepath.Join(dir, names[i]), known, meter)
				if err != nil {
					cancel(fmt.Errorf("hash %s: %w", names[i], err))
					return
				}
				sums[i] = sum
			}
		})
	}
	all.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return sums, nil
}

func sizeOf(dir string, names []string) (total int64, err error) {
	for _, name := range names {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			return 0, err
		}
		total += info.Size()
	}
	return total, nil
}

func hashFile(ctx context.Context, file string, known *Known, m *meter) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if sum, ok := known.find(file, info); ok {
		m.add(info.Size())
		return sum, nil
	}
	h := sha256.New()
	buf := make([]byte, 1<<20)
	for {
		n, err := f.Read(buf)
		h.Write(buf[:n])
		m.add(int64(n))
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return "", err
		}
	}
	sum := hex.EncodeToString(h.Sum(nil))
	after, err := os.Stat(file)
	if err != nil {
		return "", err
	}
	if after.Size() != info.Size() || !after.ModTime().Equal(info.ModTime()) {
		return "", fmt.Errorf("it was written to meanwhile")
	}
	known.add(file, info, sum)
	return sum, nil
}
