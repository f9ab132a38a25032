package api

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"assay/fault"
	"assay/redact"
	"assay/report"
	"assay/result"
	"assay/store"
)

// reportPolicy is for a report: it carries its own style, and may be framed by the page. It runs no script.
const reportPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; " +
	"sandbox allow-same-origin allow-popups allow-popups-to-escape-sandbox"

// maxTail bounds how much of the end of a log is read.
const maxTail = 1 << 20

func (s *Server) getResult(c echo.Context) error {
	run, err := s.Store.Run(c.Request().Context(), c.Param("id"))
	if err != nil {
		return err
	}
	doc, err := s.Store.ResultBytes(c.Request().Context(), run.ID)
	if errors.Is(err, store.ErrNotFound) {
		return noResult(run)
	}
	if err != nil {
		return err
	}
	return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, doc)
}

func noResult(run store.Run) error {
	return refuse(http.StatusNotFound, "no_result", "Follow GET /api/v1/runs/"+run.ID+"/events until the run has ended.", "run %s is %s and has no result yet", run.ID, run.State)
}

func (s *Server) getReport(c echo.Context) error {
	name := c.QueryParam("format")
	if name == "" {
		name = "html"
	}
	format, err := report.FormatNamed(name)
	if err != nil {
		return badPlan(err) // the caller's mistake; the fault lists the names
	}
	run, err := s.Store.Run(c.Request().Context(), c.Param("id"))
	if err != nil {
		return err
	}
	in, err := s.Report(c.Request().Context(), run.ID)
	if errors.Is(err, store.ErrNotFound) {
		return noResult(run)
	}
	if err != nil {
		return err
	}
	var out bytes.Buffer // whole, so that an error can still be answered with its status
	if err := format.Write(&out, in); err != nil {
		if f := fault.Of(err, fault.Store); f.Layer == fault.Plan {
			return badPlan(err) // a format that tells of another protocol
		}
		return fmt.Errorf("write the %s report of run %s: %w", name, run.ID, err)
	}
	c.Response().Header().Set("Content-Security-Policy", reportPolicy)
	return c.Blob(http.StatusOK, format.ContentType, out.Bytes())
}

func (s *Server) getArchive(c echo.Context) error {
	ctx := c.Request().Context()
	run, err := s.Store.Run(ctx, c.Param("id"))
	if err != nil {
		return err
	}
	if !run.State.Ended() {
		return refuse(http.StatusConflict, "run_active", "Wait for its end, or cancel it.", "run %s is %s: there is nothing to pack yet", run.ID, run.State)
	}
	w := &download{c: c, name: run.ID + ".tar.zst"}
	if err := s.Archive(ctx, run.ID, w); err != nil {
		return fmt.Errorf("pack run %s: %w", run.ID, err)
	}
	return nil
}

// download sends the headers of a file with its first byte, so that an error before that still has its own status.
// An error after it breaks the connection off: the caller must not take half a file for a whole one.
type download struct {
	c    echo.Context
	name string
}

func (d *download) Write(b []byte) (int, error) {
	if !d.c.Response().Committed {
		h := d.c.Response().Header()
		h.Set(echo.HeaderContentType, echo.MIMEOctetStream)
		h.Set(echo.HeaderContentDisposition, `attachment; filename="`+d.name+`"`)
		d.c.Response().WriteHeader(http.StatusOK)
	}
	return d.c.Response().Write(b)
}

// getFile serves a file of the run's folder. os.Root keeps every path, also one through a link, inside that folder.
func (s *Server) getFile(c echo.Context) error {
	root, err := s.openRun(c)
	if err != nil {
		return err
	}
	defer root.Close()
	name := c.Param("*")
	f, err := openFile(root, name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := s.shown(c.Request().Context(), c.Param("id"), name); err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("read file %s: %w", name, err)
	}
	h := c.Response().Header()
	h.Set("Content-Security-Policy", filePolicy)
	h.Set(echo.HeaderContentType, fileType(name))
	if by := s.hiding(c.Param("id")); by != nil {
		return clean(c.Response(), f, by)
	}
	http.ServeContent(c.Response(), c.Request(), "", info.ModTime(), f)
	return nil
}

// shown refuses files of a run that are withheld, by their own names or by others.
func (s *Server) shown(ctx context.Context, id string, names ...string) error {
	w, err := s.Store.Withheld(ctx, id)
	if err != nil || len(w.Files) == 0 {
		return err
	}
	listed, err := s.Store.Artifacts(ctx, id)
	if err != nil {
		return err
	}
	for _, name := range names {
		if slices.Contains(result.Derived(), name) || slices.ContainsFunc(listed, func(a result.Artifact) bool { return a.Path == name }) {
			continue
		}
		return refuse(http.StatusConflict, "withheld", "Start assay once with the value: it takes it out of the files and shows them.",
			"%s is withheld: it may hold the value of %s, which was not at hand when the run's files were swept", name, strings.Join(w.Names, ", "))
	}
	return nil
}

// hiding gives what takes the secrets out of a run's files; nil when they hold none.
func (s *Server) hiding(run string) *redact.Redactor {
	if s.Hide == nil {
		return nil
	}
	return s.Hide(run)
}

// clean copies without secrets.
func clean(w io.Writer, r io.Reader, by *redact.Redactor) error {
	to := by.Writer(w)
	_, err := io.Copy(to, r)
	return errors.Join(err, to.Close())
}

// openRun opens the folder of the run the path names.
func (s *Server) openRun(c echo.Context) (*os.Root, error) {
	run, err := s.Store.Run(c.Request().Context(), c.Param("id"))
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(s.Store.RunDir(run.ID))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, refuse(http.StatusNotFound, "no_files", "", "run %s has no files yet", run.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("open the folder of run %s: %w", run.ID, err)
	}
	return root, nil
}

// openFile opens a regular file below root. Whatever else the name may be, the answer is the same: there is no such file.
func openFile(root *os.Root, name string) (*os.File, error) {
	if !fs.ValidPath(name) || strings.ContainsAny(name, "\x00\\") {
		return nil, noFile(name)
	}
	info, err := root.Stat(name) // first, for opening a pipe would wait for its writer
	if err != nil || !info.Mode().IsRegular() {
		return nil, noFile(name)
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, noFile(name)
	}
	return f, nil
}

func noFile(name string) error {
	return refuse(http.StatusNotFound, "no_file", "The result's artifacts list the files of a run.", "the run has no file %q", name)
}

// fileType maps the names a run writes; the rest is bytes. It never answers with a type a browser would run.
func fileType(name string) string {
	switch path.Ext(name) {
	case ".json":
		return echo.MIMEApplicationJSON
	case ".jsonl":
		return "application/jsonl"
	case ".csv":
		return "text/csv; charset=utf-8"
	case ".log", ".txt", ".yaml", ".yml", ".md", ".cfg", ".conf":
		return echo.MIMETextPlainCharsetUTF8
	}
	return echo.MIMEOctetStream
}

// getLogs prints the logs of the run's server and router: all, or the one that ?name= names, or the last ?tail= lines.
func (s *Server) getLogs(c echo.Context) error {
	tail, err := tailOf(c)
	if err != nil {
		return err
	}
	root, err := s.openRun(c)
	if err != nil {
		return err
	}
	defer root.Close()
	names := logNames(root)
	if only := c.QueryParam("name"); only != "" {
		if !slices.Contains(names, only) {
			return refuse(http.StatusNotFound, "no_log", "It has: "+strings.Join(names, ", "), "the run has no log %q", only)
		}
		names = []string{only}
	}
	if err := s.shown(c.Request().Context(), c.Param("id"), names...); err != nil {
		return err
	}
	c.Response().Header().Set("Content-Security-Policy", filePolicy)
	c.Response().Header().Set(echo.HeaderContentType, echo.MIMETextPlainCharsetUTF8)
	c.Response().WriteHeader(http.StatusOK)
	return writeLogs(c.Response(), root, names, tail, s.hiding(c.Param("id")))
}

// tailOf reads ?tail=; 0 means everything.
func tailOf(c echo.Context) (int, error) {
	text := c.QueryParam("tail")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, refuse(http.StatusBadRequest, "bad_tail", "Give a whole number of lines.", "tail=%q is not a count of lines", text)
	}
	return n, nil
}

// logNames lists the log files of a run's folder (server.log, router.log, …) in the order of their names, server-2.log before server-10.log.
func logNames(root *os.Root) []string {
	names, err := fs.Glob(root.FS(), "*.log")
	if err != nil {
		return nil // only for a bad pattern
	}
	slices.SortFunc(names, func(a, b string) int {
		return slices.CompareFunc(strings.Split(strings.TrimSuffix(a, ".log"), "-"), strings.Split(strings.TrimSuffix(b, ".log"), "-"), byNumber)
	})
	return names
}

// byNumber compares words, and numbers by their value.
func byNumber(a, b string) int {
	n, errA := strconv.Atoi(a)
	m, errB := strconv.Atoi(b)
	if errA == nil && errB == nil {
		return cmp.Compare(n, m)
	}
	return strings.Compare(a, b)
}

// writeLogs writes logs one after another, each under a line with its name when there are several.
func writeLogs(w io.Writer, root *os.Root, names []string, tail int, by *redact.Redactor) error {
	for i, name := range names {
		if len(names) > 1 {
			if _, err := fmt.Fprintf(w, "%s==> %s <==\n", strings.Repeat("\n", min(i, 1)), path.Base(name)); err != nil {
				return err
			}
		}
		if err := writeLog(w, root, name, tail, by); err != nil {
			return err
		}
	}
	return nil
}

func writeLog(w io.Writer, root *os.Root, name string, tail int, by *redact.Redactor) error {
	f, err := openFile(root, name)
	if err != nil {
		return err
	}
	defer f.Close()
	if tail == 0 {
		return clean(w, f, by)
	}
	lines, err := lastLines(f, tail)
	if err != nil {
		return fmt.Errorf("read log %s: %w", name, err)
	}
	_, err = w.Write(by.Bytes(lines))
	return err
}

// lastLines reads the last n lines, and at most maxTail bytes.
func lastLines(f io.ReadSeeker, n int) ([]byte, error) {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(max(0, size-maxTail), io.SeekStart); err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxTail))
	if err != nil {
		return nil, err
	}
	at := len(bytes.TrimSuffix(b, []byte("\n")))
	for ; n > 0 && at >= 0; n-- {
		at = bytes.LastIndexByte(b[:at], '\n')
	}
	return b[at+1:], nil
}
