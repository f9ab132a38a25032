package store

import (
	"bufio"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"assay/fault"
	"assay/result"
)

// WriteFile writes bytes as WriteStream does.
func WriteFile(path string, data []byte) error {
	return WriteStream(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// WriteStream writes a file whole or not at all: under a temporary name beside it, synced, renamed, and its folder synced.
// Missing folders are made. The file has mode 0600.
func WriteStream(path string, write func(io.Writer) error) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("write %s: %w", path, errors.Join(err, os.Remove(f.Name())))
		}
	}()
	out := bufio.NewWriter(f)
	if err := write(out); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := errors.Join(out.Flush(), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// SaveResult writes the run's result document and gives its bytes.
func (s *Store) SaveResult(ctx context.Context, id string, r result.Result) ([]byte, error) {
	if _, err := s.Run(ctx, id); err != nil {
		return nil, err
	}
	b, err := result.Encode(r)
	if err != nil {
		return nil, err
	}
	return b, s.explain(WriteFile(filepath.Join(s.RunDir(id), result.FileName), b), "save result of run %s", id)
}

// ResultBytes gives the result document as SaveResult wrote it; ErrNotFound when the run or its result is not there.
func (s *Store) ResultBytes(ctx context.Context, id string) ([]byte, error) {
	r, err := s.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(filepath.Join(s.RunDir(id), result.FileName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.Store, "no_result", "a run has its result when it ended", "run %s is %s and has no result: %w", id, r.State, ErrNotFound)
	}
	return b, s.explain(err, "read result of run %s", id)
}

// IndexFiles notes every file of the run's folder with its hash and size, in the order of their paths, and gives the list. The
// result document is not in it, because it holds the list; nor is what is made from the document, nor temporary, hidden and withheld files.
func (s *Store) IndexFiles(ctx context.Context, id string) ([]result.Artifact, error) {
	withheld, err := s.Withheld(ctx, id)
	if err != nil {
		return nil, err
	}
	found, err := hashFiles(ctx, s.RunDir(id), withheld.Files)
	if err != nil {
		return nil, s.explain(err, "index files of run %s", id)
	}
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return nil, s.explain(err, "index files of run %s", id)
	}
	defer tx.Rollback()
	if err := replaceArtifacts(ctx, tx, id, found); err != nil {
		return nil, s.explainRun(err, id, "index files of run %s", id)
	}
	return found, s.explain(tx.Commit(), "index files of run %s", id)
}

func replaceArtifacts(ctx context.Context, tx *sql.Tx, id string, all []result.Artifact) error {
	if _, err := stateOf(ctx, tx, id); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM artifacts WHERE run_id = ?`, id); err != nil {
		return err
	}
	for _, a := range all {
		if _, err := tx.ExecContext(ctx, `INSERT INTO artifacts (run_id, path, sha256, bytes) VALUES (?, ?, ?, ?)`, id, a.Path, a.SHA256, a.Bytes); err != nil {
			return err
		}
	}
	return nil
}

// Artifacts gives the files IndexFiles noted last, in the order of their paths.
func (s *Store) Artifacts(ctx context.Context, id string) ([]result.Artifact, error) {
	all, err := queryAll(ctx, s.read, scanArtifact, `SELECT path, sha256, bytes FROM artifacts WHERE run_id = ? ORDER BY path`, id)
	return all, s.explain(err, "read files of run %s", id)
}

func scanArtifact(row scanner) (a result.Artifact, err error) {
	err = row.Scan(&a.Path, &a.SHA256, &a.Bytes)
	return a, err
}

// hashFiles walks a run's folder and passes over some files; paths are relative to it, with slashes.
func hashFiles(ctx context.Context, dir string, without []string) ([]result.Artifact, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var all []result.Artifact
	err = fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case path == ".", slices.Contains(result.Derived(), path), slices.Contains(without, path), d.Type()&^fs.ModeDir != 0:
			return nil
		case strings.HasPrefix(d.Name(), "."):
			return skip(d)
		case d.IsDir():
			return nil
		}
		a, err := hashFile(root, path)
		all = append(all, a)
		return err
	})
	return all, err
}

func skip(d fs.DirEntry) error {
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

func hashFile(root *os.Root, path string) (result.Artifact, error) {
	f, err := root.Open(path)
	if err != nil {
		return result.Artifact{}, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, bufio.NewReaderSize(f, 1<<16))
	return result.Artifact{Path: path, SHA256: hex.EncodeToString(h.Sum(nil)), Bytes: n}, err
}
