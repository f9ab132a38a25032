package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
)

// ErrNotFound tells that a program is not on the machine, or that a capture does not hold its output.
var ErrNotFound = errors.New("not found")

// maxFileBytes bounds what is read of one file of /proc, /sys and /etc; the largest (pci.ids, cpuinfo of 1024 CPUs) are under 4 MiB.
const maxFileBytes = 8 << 20

// Host is where facts are read: a root directory and the ways to ask a running kernel. A capture gives the same Host.
// A nil function is one that this host cannot answer.
type Host struct {
	Root   string                                                    // "/" of a live machine, or the folder of a capture
	Live   bool                                                      // false for a capture
	Salt   string                                                    // mixed into the hashes of serial numbers; a site keeps one, "" mixes nothing
	Exec   func(ctx context.Context, argv ...string) (Output, error) // error ErrNotFound when the program is not there
	Uname  func() (Uname, error)
	Statfs func(mount string) (Statfs, error)
	Clock  func() (bool, error)                                           // whether the kernel's clock is synchronised
	Get    func(ctx context.Context, socket, path string) ([]byte, error) // HTTP GET over a Unix socket
	BMC    func(ctx context.Context, url string) ([]byte, error)          // HTTPS GET of the machine's BMC
	Engine string                                                         // socket of the container engine; "" is where Docker's usually is
	wait   *patience                                                      // of a live machine, where a read may hang
	failed map[string]string                                              // of a capture: reads that failed on the machine, and why
	record *recording                                                     // set while a capture is made
}

// Output is what a program left.
type Output struct {
	Exit   int
	Stdout []byte
	Stderr []byte
}

// Uname is what uname(2) tells.
type Uname struct {
	Sysname  string `json:"sysname"`
	Nodename string `json:"nodename"`
	Release  string `json:"release"`
	Version  string `json:"version"`
	Machine  string `json:"machine"`
}

// Statfs is the size of a mounted file system.
type Statfs struct {
	Bytes     int64 `json:"bytes"`
	FreeBytes int64 `json:"free_bytes"`
}

// readError is a failed read as a reason for a fact: the path on the machine (never where a capture lies) and why.
type readError struct {
	path, why string
	absent    bool // known not to be there, as opposed to not captured or not readable
}

// Error is the path and why it could not be read, after what it would take.
func (e *readError) Error() string {
	if right := needed(e.path, e.why); right != "" {
		return "needs " + right + ": " + e.path + " " + e.why
	}
	return e.path + " " + e.why
}

// failure words an error of the file system. A file that a capture lacks may have been on the machine, unless the capture says it was not.
func (h Host) failure(name string, err error) error {
	if why, ok := h.failed[name]; ok {
		h.record.fail(name, why)
		return &readError{name, why, why == whyAbsent}
	}
	e := &readError{path: name}
	var errno syscall.Errno
	switch {
	case errors.Is(err, fs.ErrNotExist) && !h.Live:
		e.why = whyCaptured
	case errors.Is(err, fs.ErrNotExist):
		e.why, e.absent = whyAbsent, true
	case errors.Is(err, fs.ErrPermission):
		e.why = refusal()
	case errors.Is(err, errStuck):
		e.why = err.Error()
	case errors.As(err, &errno):
		e.why = "cannot be read: " + errno.Error()
	default:
		e.why = "cannot be read"
	}
	h.record.fail(name, e.why)
	return e
}

// Absent tells whether a path is known not to exist on the machine.
func (h Host) Absent(name string) bool {
	_, err := h.List(name)
	var e *readError
	return errors.As(err, &e) && e.absent
}

// Real follows the links of a path inside the root, so that no link of a capture leads out of it. What does not exist stays as it is.
func (h Host) Real(name string) (string, error) {
	rest, done, hops := strings.Split(name, "/"), "/", 0
	for len(rest) > 0 {
		part := rest[0]
		rest = rest[1:]
		if part == "" || part == "." {
			continue
		}
		next := path.Join(done, part)
		if part == ".." || (h.Live && next == "/proc/self") {
			done = next
			continue
		}
		target, err := os.Readlink(filepath.Join(h.Root, next))
		if err != nil {
			done = next
			continue
		}
		if hops++; hops > 40 {
			return "", syscall.ELOOP
		}
		h.record.link(next, target)
		if path.IsAbs(target) {
			done = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return done, nil
}

// resolved is a path to open below the root. The kernel follows the links of its own root by itself; by hand it costs a call for each
// part of each path, which a machine of hundreds of CPUs feels. A recording keeps the links.
func (h Host) resolved(name string) (string, error) {
	if h.Live && h.Root == "/" && h.record == nil {
		return name, nil
	}
	return h.Real(name)
}

// Read gives a file's bytes.
func (h Host) Read(name string) ([]byte, error) {
	real, err := h.resolved(name)
	if err != nil {
		return nil, h.failure(name, err)
	}
	b, err := patiently(h.wait, real, func() ([]byte, error) { return readRegular(h.Root + real) })
	if err != nil {
		return nil, h.failure(name, err)
	}
	h.record.file(real, b)
	return b, nil
}

// readRegular opens before it looks, so that the path is resolved once; what is no file (a pipe without a writer) does not hold it up.
func readRegular(name string) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, syscall.EINVAL
	}
	return io.ReadAll(io.LimitReader(f, maxFileBytes))
}

// Text gives a file's text without the blanks and NULs around it.
func (h Host) Text(name string) (string, error) {
	b, err := h.Read(name)
	return strings.Trim(string(b), " \t\r\n\x00"), err
}

// List gives the names in a directory, in natural order (cpu2 before cpu10).
func (h Host) List(dir string) ([]string, error) {
	real, err := h.resolved(dir)
	if err != nil {
		return nil, h.failure(dir, err)
	}
	entries, err := patiently(h.wait, real, func() ([]os.DirEntry, error) { return os.ReadDir(h.Root + real) })
	if err != nil {
		return nil, h.failure(dir, err)
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	sort.Slice(names, func(i, j int) bool { return NaturalLess(names[i], names[j]) })
	h.record.dir(real)
	return names, nil
}

// Match gives the paths in dir whose names fit a pattern of path.Match.
func (h Host) Match(dir, pattern string) []string {
	names, _ := h.List(dir)
	var found []string
	for _, n := range names {
		if ok, _ := path.Match(pattern, n); !ok {
			continue
		}
		found = append(found, dir+"/"+n)
		h.record.entry(h, dir+"/"+n)
	}
	return found
}

// IsDir tells whether a path leads to a directory.
func (h Host) IsDir(name string) bool {
	_, err := h.List(name)
	return err == nil
}

// Run runs a program, or finds its output in a capture.
func (h Host) Run(ctx context.Context, argv ...string) (Output, error) {
	if h.Exec == nil {
		return Output{}, fmt.Errorf("%s: %w", argv[0], ErrNotFound)
	}
	out, err := h.Exec(ctx, argv...)
	h.record.command(argv, out, err)
	return out, err
}

// errNotAsked tells that a capture does not hold what a live host would answer.
var errNotAsked = errors.New(whyCaptured)

// Kernel is uname(2).
func (h Host) Kernel() (Uname, error) {
	if h.Uname == nil {
		return Uname{}, fmt.Errorf("uname %w", errNotAsked)
	}
	u, err := h.Uname()
	if err == nil {
		h.record.system(u)
	}
	return u, err
}

// ClockSynced tells whether the kernel's clock is synchronised.
func (h Host) ClockSynced() (bool, error) {
	if h.Clock == nil {
		return false, fmt.Errorf("the state of the clock %w", errNotAsked)
	}
	synced, err := h.Clock()
	if err == nil {
		h.record.synced(synced)
	}
	return synced, err
}

// Size is statfs(2).
func (h Host) Size(mount string) (Statfs, error) {
	if h.Statfs == nil {
		return Statfs{}, fmt.Errorf("the size of the file system %w", errNotAsked)
	}
	s, err := patiently(h.wait, "statfs "+mount, func() (Statfs, error) { return h.Statfs(mount) })
	if err == nil {
		h.record.size(mount, s)
	}
	return s, err
}

// AskEngine asks a container engine over its socket. In a capture the answer lies as the output of the client's command argv, which
// says the same.
func (h Host) AskEngine(ctx context.Context, socket, question string, argv ...string) ([]byte, error) {
	if h.Get == nil {
		out, err := h.Run(ctx, argv...)
		if errors.Is(err, ErrNotFound) {
			err = fmt.Errorf("an answer of the container engine %w", errNotAsked)
		}
		return out.Stdout, err
	}
	body, err := h.Get(ctx, socket, question)
	switch {
	case errors.Is(err, fs.ErrPermission):
		err = &readError{path: socket, why: refusal()}
	case err != nil:
		err = fmt.Errorf("no container engine answers on %s", socket)
	}
	h.record.command(argv, Output{Stdout: body}, err)
	return body, err
}

// NaturalLess compares names with their numbers taken as numbers.
func NaturalLess(a, b string) bool {
	for a != "" && b != "" {
		da, db := Digits(a), Digits(b)
		if da > 0 && db > 0 {
			na, nb := strings.TrimLeft(a[:da], "0"), strings.TrimLeft(b[:db], "0")
			if na != nb {
				return len(na) < len(nb) || (len(na) == len(nb) && na < nb)
			}
			a, b = a[da:], b[db:]
			continue
		}
		if a[0] != b[0] {
			return a[0] < b[0]
		}
		a, b = a[1:], b[1:]
	}
	return len(a) < len(b)
}

// Digits counts the digits that a text begins with.
func Digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
