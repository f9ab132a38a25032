package agent

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"assay/archive"
	"assay/probes"
	"assay/report"
	"assay/result"
	"assay/runner/record"
	"assay/store"
)

// publish makes what people take away from an ended run: the report, and the signed archive unless it is not wanted.
func (a *Agent) publish(ctx context.Context, id string) error {
	in, err := ReportInput(ctx, a.Store, id)
	if err != nil {
		return err
	}
	html, err := report.FormatNamed("html")
	if err != nil {
		return err
	}
	var from Origin
	if err := a.readDocument(ctx, id, docOrigin, &from); err != nil {
		return err
	}
	dir := a.Store.RunDir(id)
	in.Unpacked = a.Key == nil || from.NoArchive
	err = store.WriteStream(filepath.Join(dir, result.ReportName), func(w io.Writer) error { return html.Write(w, in) })
	if err != nil || in.Unpacked {
		return err
	}
	return store.WriteStream(filepath.Join(dir, result.ArchiveName), func(w io.Writer) error { return archive.Pack(ctx, dir, a.Key, w) })
}

// ReportInput gives an ended run to the report: its document, its telemetry and its recordings.
func ReportInput(ctx context.Context, st *store.Store, id string) (report.Input, error) {
	raw, err := st.ResultBytes(ctx, id)
	if err != nil {
		return report.Input{}, err
	}
	r, err := result.Decode(raw)
	if err != nil {
		return report.Input{}, fmt.Errorf("read the result of run %s: %w", id, err)
	}
	dir := st.RunDir(id)
	in := report.Input{Result: r, Raw: raw, Recording: func(path string, visit func(*record.Request) error) (record.Whole, error) {
		if !filepath.IsLocal(path) {
			return record.Whole{}, fmt.Errorf("%q is no file of the run", path)
		}
		return record.ScanFile(filepath.Join(dir, path), visit)
	}}
	_, err = os.Stat(filepath.Join(dir, result.ArchiveName))
	in.Unpacked = errors.Is(err, fs.ErrNotExist)
	if _, err := os.Stat(filepath.Join(dir, telemetryFile)); err == nil {
		in.Telemetry = func(yield func(probes.Sample) bool) { readSamples(filepath.Join(dir, telemetryFile), yield) }
	} else if !errors.Is(err, fs.ErrNotExist) {
		return in, fmt.Errorf("look for telemetry: %w", err)
	}
	return in, nil
}

// readSamples yields the samples of a telemetry file. A line that was cut off by a crash is left out.
func readSamples(name string, yield func(probes.Sample) bool) {
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
