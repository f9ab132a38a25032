package publish

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"assay/agent/telemetry"
	"assay/archive"
	"assay/probes"
	"assay/report"
	"assay/result"
	"assay/runner/record"
	"assay/store"
)

// Run makes what people take away from an ended run: the report, and beside it the archive, signed with key, unless key is nil.
func Run(ctx context.Context, st *store.Store, id string, key ed25519.PrivateKey) error {
	in, err := Input(ctx, st, id)
	if err != nil {
		return err
	}
	html, err := report.FormatNamed("html")
	if err != nil {
		return err
	}
	dir := st.RunDir(id)
	in.Unpacked = key == nil
	err = store.WriteStream(filepath.Join(dir, result.ReportName), func(w io.Writer) error { return html.Write(w, in) })
	if err != nil || in.Unpacked {
		return err
	}
	return store.WriteStream(filepath.Join(dir, result.ArchiveName), func(w io.Writer) error { return archive.Pack(ctx, dir, key, w) })
}

// Input gives an ended run to the report: its document, its telemetry and its recordings.
func Input(ctx context.Context, st *store.Store, id string) (report.Input, error) {
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
	if _, err := os.Stat(filepath.Join(dir, telemetry.FileName)); err == nil {
		in.Telemetry = func(yield func(probes.Sample) bool) { telemetry.Read(filepath.Join(dir, telemetry.FileName), yield) }
	} else if !errors.Is(err, fs.ErrNotExist) {
		return in, fmt.Errorf("look for telemetry: %w", err)
	}
	return in, nil
}
