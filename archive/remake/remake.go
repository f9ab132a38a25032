package remake

import (
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"assay/result"
	"assay/runner"
	"assay/runner/imported"
)

// mostBytes is how much of other clients' files is laid aside.
const mostBytes = 4 << 30

// Files are those of other clients, laid aside as an archive is read. The zero value is ready; close it.
type Files struct {
	dir   string
	bytes int64
	err   error // why not all of them are there
}

// Take lays a file aside where another client wrote it.
func (f *Files) Take(name string, size int64, in io.Reader) {
	if f.err != nil || !filepath.IsLocal(filepath.FromSlash(name)) || !strings.HasPrefix(name, imported.Folder+"/") && !strings.HasPrefix(name, runner.ForeignFolder+"/") {
		return
	}
	if f.bytes += size; f.bytes > mostBytes {
		f.err = errors.New("the clients' files have more bytes than are laid aside")
		return
	}
	f.err = f.write(name, in)
}

func (f *Files) write(name string, in io.Reader) (err error) {
	if f.dir == "" {
		if f.dir, err = os.MkdirTemp("", "assay-verify-"); err != nil {
			return err
		}
	}
	file := filepath.Join(f.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// Close removes what was laid aside.
func (f *Files) Close() error {
	if f.dir == "" {
		return nil
	}
	return os.RemoveAll(f.dir)
}

// Differ makes the recordings of a result again of its clients' files, and says of each point by its id why its recording is another one; n
// is how many were made. The error is why they could not be made.
func (f *Files) Differ(r result.Result) (differ map[string]string, n int, err error) {
	if f.err != nil {
		return nil, 0, f.err
	}
	differ = map[string]string{}
	for i, k := range f.kept(r) {
		sums, err := k.Remake(filepath.Join(f.dir, "made", strconv.Itoa(i)))
		for _, p := range k.Points {
			switch {
			case p.Recording == nil:
			case err != nil:
				differ[p.ID] = "its recording cannot be made of the client's files: " + err.Error()
			case sums[p.ID] != p.Recording.SHA256:
				differ[p.ID] = "its recording is not the one that the client's files give"
			default:
				n++
			}
		}
	}
	return differ, n, nil
}

// kept groups the points of a result by the files that they were made of.
func (f *Files) kept(r result.Result) []imported.Kept {
	if d, ok := result.DecodeImport(r.Plan); ok {
		return []imported.Kept{{Dir: filepath.Join(f.dir, imported.Folder), Format: d.Import.Format, Run: r.Run.ID, Points: r.Points}}
	}
	byDir := map[string]imported.Kept{}
	for _, p := range r.Points {
		if p.Imported == nil || p.Imported.Told == nil || p.Recording == nil || !filepath.IsLocal(filepath.FromSlash(p.Imported.File)) {
			continue
		}
		dir := f.results(p.Imported.File)
		byDir[dir] = imported.Kept{Dir: dir, Format: p.Imported.Format, Run: r.Run.ID, Points: []result.Point{p}}
	}
	var out []imported.Kept
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		out = append(out, byDir[dir])
	}
	return out
}

// results is the file or folder that the client wrote its results to: client/POINT/result.json, client/POINT/report.
func (f *Files) results(file string) string {
	parts := strings.Split(file, "/")
	return filepath.Join(f.dir, filepath.Join(parts[:min(3, len(parts))]...))
}
