package inside

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"assay/fault"
)

// Software is what a server stands on.
type Software struct {
	Where  string   `json:"where"`            // "container assay-r1-server", "the process's own view of this machine"
	Parts  []Part   `json:"parts"`            // in the order of parts(); what is not installed is not there
	Unread []string `json:"unread,omitempty"` // what could not be looked at, and why
}

// Part is a piece of software.
type Part struct {
	Name    string `json:"name"` // rocm | cuda | pytorch | vllm | …
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"` // of its source, where the build says it
	Source  string `json:"source"`           // a file, or the metadata of a package
	Other   string `json:"other,omitempty"`  // sources that say another version
}

// World is what a server sees: files, and programs that can be started beside it.
type World interface {
	File(ctx context.Context, name string) ([]byte, error) // fs.ErrNotExist when it is not there
	Run(ctx context.Context, argv ...string) (out, complaint []byte, err error)
	Pythons(ctx context.Context) []string // interpreters that may know the server's packages, best first; none for a server that is no Python
}

// Limits of one look. What is looked at is not trusted: an image may hold anything.
const (
	limit       = 30 * time.Second
	pythonLimit = 20 * time.Second // of that; the files have the rest when no Python answers
	fileBytes   = 16 << 20         // the list of packages of a large image is 3 MB
	textBytes   = 1 << 20          // what the Python program prints
	lineBytes   = 300              // of a version, and of the reason why there is none
)

// finding is one source's word on a part.
type finding struct{ version, commit, source string }

// Read looks around. It takes a second, and has an end whatever hangs.
func Read(ctx context.Context, where string, w World) *Software {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	s := &Software{Where: where, Parts: []Part{}}
	python, err := askPython(ctx, w, wanted())
	if err != nil {
		s.Unread = append(s.Unread, "packages of Python: "+line(err.Error()))
	}
	files := reader{ctx: ctx, world: w}
	for _, p := range parts() {
		found := slices.Concat(python.look(p), files.look(p.files), files.packages(p.debs), python.builtFor(p))
		if found = slices.DeleteFunc(found, func(f finding) bool { return f.version == "" || f.version != line(f.version) }); len(found) > 0 {
			s.Parts = append(s.Parts, choose(p.name, found))
		}
	}
	s.Unread = append(s.Unread, files.failed...)
	return s
}

// line makes one line of a text of an image, of a length that people read.
func line(text string) string {
	text = fault.Printable(text[:min(len(text), lineBytes+1)])
	if len(text) > lineBytes {
		return strings.ToValidUTF8(text[:lineBytes], "") + "…"
	}
	return text
}

// choose takes the first source; those that say another version stand beside it. "13.0" and "13.0.96" say the same.
func choose(name string, found []finding) Part {
	first := found[0]
	p := Part{Name: name, Version: first.version, Commit: first.commit, Source: first.source}
	var others []string
	for _, f := range found[1:] {
		p.Commit = cmp.Or(p.Commit, f.commit)
		if !strings.HasPrefix(f.version, first.version) && !strings.HasPrefix(first.version, f.version) {
			others = append(others, fmt.Sprintf("%s (%s)", f.version, f.source))
		}
	}
	p.Other = strings.Join(others, ", ")
	return p
}

// reader reads the files of a world, and keeps why some could not be.
type reader struct {
	ctx    context.Context
	world  World
	failed []string
	late   bool              // no time is left
	debs   map[string]string // packages of the distribution; nil before they were asked for
}

// text is a file's text, "" when it is not there. When the time is up, the file that it was up at says so for all that follow.
func (r *reader) text(name string) string {
	if r.late {
		return ""
	}
	b, err := r.world.File(r.ctx, name)
	if r.late = r.ctx.Err() != nil; r.late {
		err = fmt.Errorf("it and those after it were not read within %s", limit)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.failed = append(r.failed, name+": "+line(err.Error()))
	}
	return string(b)
}

func (r *reader) look(files []file) (found []finding) {
	for _, f := range files {
		if text := r.text(f.name); text != "" {
			version, commit := f.parse(text)
			found = append(found, finding{version, commit, f.name})
		}
	}
	return found
}

// packages looks into the distribution's own list.
func (r *reader) packages(names []string) (found []finding) {
	const list = "/var/lib/dpkg/status"
	if len(names) == 0 {
		return nil
	}
	if r.debs == nil {
		r.debs = parseDpkg(r.text(list))
	}
	for _, name := range names {
		found = append(found, finding{version: r.debs[name], source: "package " + name})
	}
	return found
}
