package output

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"assay/fault"
)

// Write writes what the user asked for to a file. A regular file appears whole or not at all, and an older one stays until then; a
// device or a pipe is written as it is.
func Write(layer fault.Layer, name string, write func(io.Writer) error) error {
	return notWritten(layer, name, writeWhole(name, write))
}

func notWritten(layer fault.Layer, name string, err error) error {
	var known *fs.PathError
	var told *fault.Fault
	if errors.As(err, &known) && !errors.As(err, &told) {
		return fault.New(layer, "not_writable", "choose another file, or free some space", "write %s: %w", name, err)
	}
	return err
}

// Writable tells before the work is done why Write could not write its result.
func Writable(layer fault.Layer, name string) error {
	st, err := os.Stat(name)
	switch {
	case err == nil && st.IsDir():
		return notWritten(layer, name, &fs.PathError{Op: "open", Path: name, Err: syscall.EISDIR})
	case err == nil && !st.Mode().IsRegular(): // opening a pipe would wait for its reader
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*")
	if err != nil {
		return notWritten(layer, name, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

func writeWhole(name string, write func(io.Writer) error) (err error) {
	if st, err := os.Stat(name); err == nil && !st.Mode().IsRegular() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	out := bufio.NewWriter(f)
	err = write(out)
	if err := errors.Join(err, out.Flush(), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// Bytes writes bytes that are already there.
func Bytes(b []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	}
}
