package logs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A log keeps its beginning and its end: past Cap its middle is cut out down to Head, and what was written last.
const (
	Cap  = 64 << 20
	Head = 32 << 20
	Tail = 1 << 20
)

// Create makes a log file of its own for each start: server.log, server-2.log, … so that no start's output is
// taken for another's.
func Create(dir, role string) (*os.File, error) {
	for n := 1; ; n++ {
		name := role + ".log"
		if n > 1 {
			name = fmt.Sprintf("%s-%d.log", role, n)
		}
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("create the log of the %s: %w", role, err)
		}
		return f, nil
	}
}

// Cut takes the middle out of a log that has grown past limit. The writer must append; what it writes in the very moment of
// the cut may be lost.
func Cut(f *os.File, limit, head, tail int64) error {
	st, err := f.Stat()
	if err != nil || st.Size() <= limit {
		return err
	}
	end := make([]byte, tail)
	n, err := f.ReadAt(end, st.Size()-tail)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if err := f.Truncate(head); err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "\n[%d bytes were cut out here]\n%s", st.Size()-head-tail, end[:n])
	return err
}

// Capped is a writer to a log that cuts it as it grows.
type Capped struct {
	File *os.File
	size int64
}

// Write appends and cuts when the file has grown too large.
func (l *Capped) Write(b []byte) (int, error) {
	n, err := l.File.Write(b)
	if l.size += int64(n); l.size > Cap {
		if cut := Cut(l.File, Cap, Head, Tail); cut != nil && err == nil {
			err = cut
		}
		l.size = Head + Tail
	}
	return n, err
}
