package files

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"assay/fault"
)

// Bounds of what is read.
const (
	maxFiles    = 4096
	maxDepth    = 4        // folders below the one that was given
	MaxDocument = 1 << 30  // bytes of a JSON document
	MaxStream   = 64 << 30 // bytes of a file of lines
	MaxLine     = 64 << 20 // bytes of a line
	headBytes   = 16 << 10 // by which a file is known
)

// Source is the files to import: one, or those of a folder.
type Source struct {
	Given string   // as the person wrote it
	Dir   string   // where Files begin
	Files []string // with slashes, in order
}

// Open lists the files of a path.
func Open(path string) (Source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Source{}, unreadable(err)
	}
	if !info.IsDir() && !info.Mode().IsRegular() { // a pipe would be waited for, and nothing can be read of it twice
		return Source{}, fault.New(fault.Plan, "import_unreadable", "write it to a file first, and import that", "%s is neither a file nor a folder", path)
	}
	if !info.IsDir() {
		return Source{Given: path, Dir: filepath.Dir(path), Files: []string{filepath.Base(path)}}, nil
	}
	src := Source{Given: path, Dir: path}
	err = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(path, name)
		if err != nil {
			return err
		}
		if d.IsDir() && strings.Count(rel, string(filepath.Separator)) >= maxDepth {
			return fs.SkipDir
		}
		if d.Type().IsRegular() {
			src.Files = append(src.Files, filepath.ToSlash(rel))
		}
		if len(src.Files) > maxFiles {
			return fault.New(fault.Plan, "import_unreadable", "name the folder of one run", "%s holds more than %d files", path, maxFiles)
		}
		return nil
	})
	return src, unreadable(err)
}

func unreadable(err error) error {
	var told *fault.Fault
	if err == nil || errors.As(err, &told) {
		return err
	}
	return fault.New(fault.Plan, "import_unreadable", "check the name and who may read it", "cannot read what is to be imported: %w", err)
}

// Looking keeps the files whose beginning is taken for a tool's own.
func (s Source) Looking(looks func(head string) bool) (Source, error) {
	own := s
	own.Files = nil
	for _, name := range s.Files {
		head, err := s.Head(name)
		if err != nil {
			return own, err
		}
		if looks(head) {
			own.Files = append(own.Files, name)
		}
	}
	return own, nil
}

// Path is where a file of the source lies.
func (s Source) Path(name string) string { return filepath.Join(s.Dir, filepath.FromSlash(name)) }

// Head is how a file begins and, of a long one, how it ends: a log tells at its end what it is.
func (s Source) Head(name string) (string, error) {
	f, err := os.Open(s.Path(name))
	if err != nil {
		return "", unreadable(err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, headBytes))
	info, failed := f.Stat()
	if err != nil || failed != nil || info.Size() <= 2*headBytes {
		rest, more := io.ReadAll(io.LimitReader(f, headBytes))
		return string(b) + string(rest), unreadable(errors.Join(err, failed, more))
	}
	end := make([]byte, headBytes)
	_, err = f.ReadAt(end, info.Size()-headBytes)
	return string(b) + string(end), unreadable(err)
}

// Holding tells whether a beginning holds all of the marks.
func Holding(marks ...string) func(head string) bool {
	return func(head string) bool {
		for _, m := range marks {
			if !strings.Contains(head, m) {
				return false
			}
		}
		return true
	}
}

// Changed is when a file was written last, UTC microseconds; now, when it came out of an archive without dates.
func (s Source) Changed(name string) int64 {
	info, err := os.Stat(s.Path(name))
	if err != nil || info.ModTime().Year() < 2000 {
		return time.Now().UnixMicro()
	}
	return info.ModTime().UnixMicro()
}

// Read gives a file to read, bounded in bytes. Its errors are told as what a person can do about them.
func (s Source) Read(name string, most int64, read func(io.Reader) error) error {
	f, err := os.Open(s.Path(name))
	if err != nil {
		return unreadable(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > most {
		return fault.New(fault.Plan, "import_too_large", "import a shorter run, or one without single requests", "%s has %d bytes, more than this program reads", name, info.Size())
	}
	return told(name, read(plainNumbers(f)))
}

// told says of an error of parsing what a person can do about it.
func told(name string, err error) error {
	var said *fault.Fault
	if err == nil || errors.As(err, &said) {
		return err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, errTorn) {
		return fault.New(fault.Plan, "import_truncated", "the tool was stopped while it wrote, or the copy is not whole: copy it again", "%s ends in its middle: %w", name, err)
	}
	return fault.New(fault.Plan, "import_malformed", "give the file as the tool wrote it", "%s cannot be read: %w", name, err)
}

// Documents reads a file of one JSON document, or of several one after another.
func (s Source) Documents(name string, each func(*json.Decoder) error) error {
	return s.Read(name, MaxDocument, func(in io.Reader) error {
		dec := json.NewDecoder(bufio.NewReaderSize(in, 1<<20))
		for dec.More() {
			if err := each(dec); err != nil {
				return err
			}
		}
		return nil
	})
}

// Document reads a file of one JSON document into v.
func (s Source) Document(name string, v any) error {
	return s.Read(name, MaxDocument, func(in io.Reader) error { return json.NewDecoder(in).Decode(v) })
}

// errTorn is a last line that is not whole.
var errTorn = errors.New("its last line is not whole")

// Lines reads a file of JSON lines. A last line without its end that is no JSON is told as torn.
func (s Source) Lines(name string, each func(line []byte) error) error {
	return s.Read(name, MaxStream, func(in io.Reader) error {
		scan := bufio.NewScanner(in)
		scan.Buffer(make([]byte, 0, 1<<16), MaxLine)
		n := 0
		var failed error
		for scan.Scan() {
			if failed != nil {
				return failed // a bad line that is not the last
			}
			if n++; len(scan.Bytes()) > 0 {
				failed = each(scan.Bytes())
			}
		}
		if err := scan.Err(); err != nil {
			return err
		}
		var syntax *json.SyntaxError
		if n > 1 && errors.As(failed, &syntax) {
			return errors.Join(errTorn, failed)
		}
		return failed
	})
}
