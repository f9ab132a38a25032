package events

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"

	"assay/fault"
	"assay/result"
)

// Log keeps a run's events as JSON lines, so that a page can show an ended run as it went.
type Log struct{ file *os.File }

// Open opens the log of the run whose folder is dir, to append to it.
func Open(dir string) (*Log, error) {
	f, err := os.OpenFile(filepath.Join(dir, result.EventsName), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fault.New(fault.Store, "not_writable", "choose another directory with --data, or free some space",
			"open the run's event log: %w", err)
	}
	return &Log{file: f}, nil
}

// Append writes one event. The log is a convenience: a full disk shows in the documents and recordings, which do not forgive it.
func (l *Log) Append(e result.Event) {
	b, err := json.Marshal(e)
	if err != nil {
		return
	}
	_, _ = l.file.Write(append(b, '\n'))
}

// Close closes the file.
func (l *Log) Close() error { return l.file.Close() }

// Read reads a log as far as it can be read; a run that never began has none.
func Read(name string) []result.Event {
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	var all []result.Event
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e result.Event
		if json.Unmarshal(lines.Bytes(), &e) == nil {
			all = append(all, e)
		}
	}
	return all
}
