package host

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"assay/fault"
)

const maxEntryBytes = 64 << 20 // of one file of a capture; a program's output is at most 16 MiB

// limits bound what is unpacked.
type limits struct {
	bytes   int64
	entries int
}

// captureLimits are generous: a node of eight GPUs is under 20 MiB.
func captureLimits() limits { return limits{bytes: 512 << 20, entries: 200_000} }

// FromCapture opens a capture, a folder or a tar.gz. The function it gives removes what was unpacked. What is no capture is a fault.
func FromCapture(ctx context.Context, name string) (Host, func() error, error) {
	info, err := os.Stat(name)
	if err != nil {
		return Host{}, nil, noCapture("open capture: %w", err)
	}
	if info.IsDir() {
		h, err := openFolder(name, name)
		return h, func() error { return nil }, err
	}
	if !info.Mode().IsRegular() {
		return Host{}, nil, noCapture("%s is neither a folder nor a file", name)
	}
	dir, err := os.MkdirTemp("", "assay-capture-")
	if err != nil {
		return Host{}, nil, fmt.Errorf("open capture: %w", err)
	}
	remove := func() error { return os.RemoveAll(dir) }
	err = unpack(ctx, name, dir, captureLimits())
	if ctx.Err() != nil {
		return Host{}, nil, errors.Join(fmt.Errorf("open capture: %w", ctx.Err()), remove())
	}
	if err != nil {
		return Host{}, nil, errors.Join(noCapture("unpack capture %s: %w", name, err), remove())
	}
	h, err := openFolder(inner(dir), name)
	if err != nil {
		return Host{}, nil, errors.Join(err, remove())
	}
	return h, remove, nil
}

func noCapture(format string, args ...any) error {
	return fault.New(fault.Preflight, "no_capture", "make one with: assay probe --capture FILE.tar.gz", format, args...)
}

// openFolder opens an unpacked capture, and refuses a folder that has nothing of one.
func openFolder(dir, name string) (Host, error) {
	for _, mark := range []string{"sys", "proc", "commands.json"} {
		if _, err := os.Lstat(filepath.Join(dir, mark)); err == nil {
			return hostOf(dir)
		}
	}
	return Host{}, noCapture("%s is no capture: it has none of sys/, proc/, commands.json", name)
}

// inner steps into the single folder that a tar of a folder holds.
func inner(dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || !entries[0].IsDir() {
		return dir
	}
	if slices.Contains([]string{"sys", "proc", "etc", "opt", "usr", "run", "redfish"}, entries[0].Name()) {
		return dir
	}
	return filepath.Join(dir, entries[0].Name())
}

// unpack looks at all entries before it writes the first, so that what is too large or cut off costs no more than reading it.
func unpack(ctx context.Context, name, dir string, most limits) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := eachEntry(ctx, f, most, func(*tar.Header, io.Reader) error { return nil }); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return eachEntry(ctx, f, most, func(hdr *tar.Header, r io.Reader) error { return unpackEntry(root, hdr, r) })
}

// eachEntry visits the entries of a tar.gz from its beginning.
func eachEntry(ctx context.Context, f io.ReadSeeker, most limits, visit func(*tar.Header, io.Reader) error) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	zr, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return fmt.Errorf("not a gzip'd tar: %w", err)
	}
	limited := &io.LimitedReader{R: zr, N: most.bytes}
	tr := tar.NewReader(limited)
	for n := 0; ctx.Err() == nil; n++ {
		hdr, err := tr.Next()
		switch {
		case limited.N <= 0 || err == nil && n >= most.entries:
			return fmt.Errorf("holds more than %d MiB or %d files", most.bytes>>20, most.entries)
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case hdr.Size > maxEntryBytes:
			return fmt.Errorf("%s is larger than %d MiB", hdr.Name, maxEntryBytes>>20)
		}
		if err := visit(hdr, tr); err != nil {
			return fmt.Errorf("%s: %w", hdr.Name, err)
		}
	}
	return ctx.Err()
}

// unpackEntry writes one file, folder or link below root; os.Root refuses every way out of it. Other kinds are left out.
func unpackEntry(root *os.Root, hdr *tar.Header, r io.Reader) error {
	name := path.Clean(hdr.Name)
	if !filepath.IsLocal(name) {
		return errors.New("leads out of the capture")
	}
	switch hdr.Typeflag {
	case tar.TypeDir:
		return root.MkdirAll(name, 0o755)
	case tar.TypeSymlink:
		if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
			return err
		}
		return root.Symlink(hdr.Linkname, name)
	case tar.TypeReg:
		if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
			return err
		}
		f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, r)
		return errors.Join(err, f.Close())
	}
	return nil
}

// hostOf reads the documents of an unpacked capture.
func hostOf(dir string) (Host, error) {
	h := Host{Root: dir}
	var commands []capturedCommand
	var uname *Uname
	var sizes map[string]Statfs
	var clock *capturedClock
	for name, into := range map[string]any{
		"commands.json": &commands, "uname.json": &uname, "statfs.json": &sizes, "clock.json": &clock, "failed.json": &h.failed,
	} {
		b, err := readRegular(filepath.Join(dir, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return Host{}, noCapture("read %s of the capture: %w", name, err)
		}
		if err := json.Unmarshal(b, into); err != nil {
			return Host{}, noCapture("read %s of the capture: %w", name, err)
		}
	}
	h.Exec = func(_ context.Context, argv ...string) (Output, error) { return h.replay(commands, argv) }
	if uname != nil {
		h.Uname = func() (Uname, error) { return *uname, nil }
	}
	if clock != nil {
		h.Clock = func() (bool, error) { return clock.Synchronised, nil }
	}
	h.Statfs = func(mount string) (Statfs, error) {
		if s, ok := sizes[mount]; ok {
			return s, nil
		}
		return Statfs{}, errors.New("its size is not in the capture")
	}
	return h, nil
}

// replay finds a command's output. The order of flags does not matter, nor which fields a recorded query holds, if it holds those asked.
func (h Host) replay(commands []capturedCommand, argv []string) (Output, error) {
	c, ok := find(commands, argv)
	switch {
	case !ok:
		return Output{}, fmt.Errorf("%s: %w", argv[0], ErrNotFound)
	case c.Failed != "":
		return Output{}, errors.New(c.Failed)
	}
	out := Output{Exit: c.Exit}
	var err error
	if out.Stdout, err = h.Read("/" + c.Stdout); err != nil {
		return Output{}, err
	}
	out.Stderr, _ = h.Read("/" + c.Stderr)
	return out, nil
}

// find gives the entry that answers a command: the same command, else one that asked for the same fields and more, else for others.
func find(commands []capturedCommand, argv []string) (capturedCommand, bool) {
	want, fields := commandKey(argv), queried(argv)
	best, rank := capturedCommand{}, 0
	for _, c := range commands {
		if len(c.Argv) == 0 || commandKey(c.Argv) != want {
			continue
		}
		r := 1
		switch held := queried(c.Argv); {
		case slices.Equal(c.Argv, argv):
			r = 3
		case !slices.ContainsFunc(fields, func(f string) bool { return !slices.Contains(held, f) }):
			r = 2
		}
		if r > rank {
			best, rank = c, r
		}
	}
	return best, rank > 0
}

// queried gives the fields of a query.
func queried(argv []string) []string {
	for _, a := range argv {
		if name, list, ok := strings.Cut(a, "="); ok && strings.HasPrefix(name, "--query-") {
			return strings.Split(list, ",")
		}
	}
	return nil
}

// commandKey is equal for the spellings of one command.
func commandKey(argv []string) string {
	args := slices.Clone(argv[1:])
	keep := args[:0]
	for _, a := range args {
		switch name, _, _ := strings.Cut(a, "="); {
		case name == "--format":
			continue
		case strings.HasPrefix(name, "--query-"):
			a = name
		case a == "-J":
			a = "--json"
		case a == "--query":
			a = "-q"
		case a == "--xml-format":
			a = "-x"
		}
		keep = append(keep, a)
	}
	slices.Sort(keep)
	return path.Base(argv[0]) + " " + strings.Join(keep, " ")
}
