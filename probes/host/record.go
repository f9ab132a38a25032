package host

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// recording is what was read of a host while a capture was made. Its methods do nothing on nil, so that reading need not ask.
type recording struct {
	mu       sync.Mutex
	dirs     map[string]bool
	links    map[string]string
	files    map[string][]byte
	failed   map[string]string
	commands map[string]capturedCommand
	uname    *Uname
	clock    *bool
	statfs   map[string]Statfs
}

// capturedCommand is an entry of commands.json; Stdout and Stderr are paths in the capture. The outputs ride along unexported.
type capturedCommand struct {
	Argv   []string `json:"argv"`
	Exit   int      `json:"exit"`
	Stdout string   `json:"stdout"`
	Stderr string   `json:"stderr"`
	Failed string   `json:"failed,omitempty"` // why it left no output: it hung, or printed too much
	out    Output
}

// Record gives read a host that is h, and writes what it read of it as a tar.gz that FromCapture opens as the same host. Serial
// numbers and the like become hashes; names of the host, addresses and secrets are cut.
func Record(ctx context.Context, h Host, read func(Host), w io.Writer) error {
	rec := &recording{
		dirs: map[string]bool{}, links: map[string]string{}, files: map[string][]byte{}, failed: map[string]string{},
		commands: map[string]capturedCommand{}, statfs: map[string]Statfs{},
	}
	h.record = rec
	read(h)
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("capture: %w", err)
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	if err := rec.write(w, rec.cleaner(h)); err != nil {
		return fmt.Errorf("write capture: %w", err)
	}
	return nil
}

func (r *recording) note(f func()) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

func (r *recording) dir(name string)             { r.note(func() { r.dirs[name] = true }) }
func (r *recording) link(name, target string)    { r.note(func() { r.links[name] = target }) }
func (r *recording) fail(name, why string)       { r.note(func() { r.failed[name] = why }) }
func (r *recording) size(mount string, s Statfs) { r.note(func() { r.statfs[mount] = s }) }
func (r *recording) synced(yes bool)             { r.note(func() { r.clock = &yes }) }
func (r *recording) system(u Uname)              { r.note(func() { r.uname = &u }) }

// file keeps what a file held when it was read first, which is what a probe went by.
func (r *recording) file(name string, b []byte) {
	r.note(func() {
		if _, read := r.files[name]; !read {
			r.files[name] = b
		}
	})
}

// entry keeps a listed name: the link it is, the directory it leads to.
func (r *recording) entry(h Host, name string) {
	if r == nil {
		return
	}
	real, err := h.Real(name)
	if err != nil {
		return
	}
	if info, err := os.Lstat(filepath.Join(h.Root, real)); err == nil && info.IsDir() {
		r.dir(real)
	}
}

func (r *recording) command(argv []string, out Output, err error) {
	if errors.Is(err, ErrNotFound) {
		return
	}
	c := capturedCommand{Argv: argv, Exit: out.Exit, out: out}
	if err != nil {
		c.Failed = err.Error()
	}
	r.note(func() { r.commands[strings.Join(argv, " ")] = c })
}

// has tells whether a command was run already.
func (r *recording) has(line string) (yes bool) {
	r.note(func() { _, yes = r.commands[line] })
	return yes
}

// write lays the recording out as the contract says: trees, then the JSON files.
func (r *recording) write(w io.Writer, clean cleaner) error {
	zw := gzip.NewWriter(w)
	tw := tar.NewWriter(zw)
	headers := map[string]*tar.Header{} // by cleaned name; two that became one are one
	for name := range r.parents() {
		name = clean.name(name)[1:]
		headers[name] = &tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755}
	}
	for name, target := range r.links {
		name = clean.name(name)[1:]
		headers[name] = &tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: clean.name(target), Mode: 0o777}
	}
	contents := map[string][]byte{}
	for name, b := range r.files {
		b = clean.file(name, b)
		name = clean.name(name)[1:]
		headers[name] = &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(b))}
		contents[name] = b
	}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		if err := tw.WriteHeader(headers[name]); err != nil {
			return err
		}
		if _, err := tw.Write(contents[name]); err != nil {
			return err
		}
	}
	if err := r.writeDocuments(tw, clean); err != nil {
		return err
	}
	return errors.Join(tw.Close(), zw.Close())
}

// parents gives every directory that the links and files need. A link is never among them: reading resolved it.
func (r *recording) parents() map[string]bool {
	all := map[string]bool{}
	add := func(name string) {
		for ; name != "/" && name != "."; name = path.Dir(name) {
			all[name] = true
		}
	}
	for name := range r.dirs {
		add(name)
	}
	for name := range r.links {
		add(path.Dir(name))
	}
	for name := range r.files {
		add(path.Dir(name))
	}
	return all
}

func (r *recording) writeDocuments(tw *tar.Writer, clean cleaner) error {
	list := []capturedCommand{}
	for _, key := range slices.Sorted(maps.Keys(r.commands)) {
		c := r.commands[key]
		c.Stdout, c.Stderr = fmt.Sprintf("cmd/%d.out", len(list)+1), fmt.Sprintf("cmd/%d.err", len(list)+1)
		err := cmp.Or(addFile(tw, c.Stdout, clean.output(c.Argv, c.out.Stdout)), addFile(tw, c.Stderr, clean.output(c.Argv, c.out.Stderr)))
		if err != nil {
			return err
		}
		c.Argv, c.Failed = clean.args(c.Argv), clean.name(c.Failed)
		list = append(list, c)
	}
	docs := map[string]any{"commands.json": list, "failed.json": clean.keys(r.failed), "statfs.json": cleanSizes(clean, r.statfs)}
	if r.uname != nil {
		u := *r.uname
		u.Nodename = ""
		docs["uname.json"] = u
	}
	if r.clock != nil {
		docs["clock.json"] = capturedClock{*r.clock}
	}
	for _, name := range slices.Sorted(maps.Keys(docs)) {
		b, err := json.MarshalIndent(docs[name], "", "  ")
		if err != nil {
			return err
		}
		if err := addFile(tw, name, b); err != nil {
			return err
		}
	}
	return nil
}

type capturedClock struct {
	Synchronised bool `json:"synchronised"`
}

func cleanSizes(c cleaner, sizes map[string]Statfs) map[string]Statfs {
	out := map[string]Statfs{}
	for mount, s := range sizes {
		out[c.mount(mount)] = s
	}
	return out
}

func addFile(tw *tar.Writer, name string, b []byte) error {
	if err := tw.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(b))}); err != nil {
		return err
	}
	_, err := tw.Write(b)
	return err
}
