package telemetry

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"

	"assay/probes"
)

// FileName is the file in a run's folder that holds its samples, one JSON object a line: {"t": µs UTC, "s": series, "v": value}.
const FileName = "telemetry.jsonl"

// file is a telemetry file that is written.
type file struct {
	mu  sync.Mutex
	f   *os.File
	out *bufio.Writer
}

// openFile opens a telemetry file to go on with. The last line of a run that is resumed may have been cut off by a crash: it is ended, so
// that what follows stays readable.
func openFile(name string) (*file, error) {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := endLine(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &file{f: f, out: bufio.NewWriter(f)}, nil
}

func endLine(f *os.File) error {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	last := []byte{0}
	if _, err := f.ReadAt(last, info.Size()-1); err != nil || last[0] == '\n' {
		return err
	}
	_, err = f.WriteString("\n")
	return err
}

// encode gives the lines of samples, and the samples that have one: NaN and Inf have no JSON form and say nothing.
func encode(samples []probes.Sample) (kept []probes.Sample, lines []byte) {
	for _, s := range samples {
		line, err := json.Marshal(s)
		if err != nil {
			continue
		}
		kept, lines = append(kept, s), append(append(lines, line...), '\n')
	}
	return kept, lines
}

// append adds lines. What cannot be written is told by close.
func (f *file) append(lines []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.out.Write(lines)
}

func (f *file) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := errors.Join(f.out.Flush(), f.f.Close()); err != nil {
		return fmt.Errorf("write telemetry: %w", err)
	}
	return nil
}

// Read yields the samples of a telemetry file until yield says no. A line that was cut off by a crash is left out.
func Read(name string, yield func(probes.Sample) bool) {
	f, err := os.Open(name)
	if err != nil {
		return
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var s probes.Sample
		if json.Unmarshal(lines.Bytes(), &s) == nil && !yield(s) {
			return
		}
	}
}
