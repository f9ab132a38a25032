package redact

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Folder takes the secrets out of every regular file below dir. A file that holds none is not touched; links are not followed. What is
// compressed is left as it is.
func (r *Redactor) Folder(dir string) error {
	if r == nil {
		return nil
	}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		return r.File(name)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// File takes the secrets out of a file: it is written anew and takes the old one's place at once, so that whoever reads sees one or the other.
func (r *Redactor) File(name string) error {
	held, err := r.inFile(name)
	if err != nil || !held {
		return err
	}
	if err := r.rewrite(name); err != nil {
		return fmt.Errorf("take secrets out of %s: %w", name, err)
	}
	return nil
}

// inFile tells whether a file holds a secret.
func (r *Redactor) inFile(name string) (held bool, err error) {
	f, err := os.Open(name)
	if err != nil {
		return false, fmt.Errorf("look for secrets: %w", err)
	}
	defer f.Close()
	err = pieces(f, len(r.forms[0].text), func(piece []byte) bool {
		held = r.Holds(piece)
		return !held
	})
	return held, err
}

func (r *Redactor) rewrite(name string) (err error) {
	in, err := os.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.CreateTemp(filepath.Dir(name), ".redact-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(out.Name()))
		}
	}()
	err = errors.Join(r.copy(out, in, filepath.Ext(name)), out.Chmod(info.Mode().Perm()), out.Sync(), out.Close())
	if err != nil {
		return err
	}
	return os.Rename(out.Name(), name)
}

// copy writes a stream without secrets; of JSON the keys stay.
func (r *Redactor) copy(out io.Writer, in io.Reader, ext string) error {
	if ext == ".json" || ext == ".jsonl" {
		doc, err := io.ReadAll(in)
		if err != nil {
			return err
		}
		_, err = io.Copy(out, bytes.NewReader(r.JSON(doc)))
		return err
	}
	w := r.Writer(out)
	_, err := io.Copy(w, in)
	return errors.Join(err, w.Close())
}
