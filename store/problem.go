package store

import (
	"database/sql"
	"errors"
	"fmt"
	"syscall"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"assay/fault"
)

// What callers branch on, with errors.Is.
var (
	ErrNotFound = errors.New("not found")
	ErrConflict = errors.New("conflict")       // the state of the run, or the same key with another plan, does not allow it
	ErrExists   = errors.New("exists already") // CreateRun: the same key with the same plan; RunByKey gives the first run
)

// explain wraps err with what was being done, as a fault where a person can do something about it. explain(nil) is nil.
func (s *Store) explain(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	doing := fmt.Sprintf(format, args...)
	code, hint := s.classify(err)
	if code == "" {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return fault.New(fault.Store, code, hint, "%s: %w", doing, err)
}

func (s *Store) classify(err error) (code, hint string) {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), primaryCode(err) == lib.SQLITE_FULL, s.isFull(err):
		return "disk_full", fmt.Sprintf("free space on the file system of %s, or use another data directory (--data)", s.dir)
	case errors.Is(err, syscall.EROFS), errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM),
		primaryCode(err) == lib.SQLITE_READONLY, primaryCode(err) == lib.SQLITE_CANTOPEN, primaryCode(err) == lib.SQLITE_PERM:
		return "read_only", fmt.Sprintf("make %s writable for this user, or use another data directory (--data)", s.dir)
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EEXIST):
		return "not_a_directory", "name a directory with --data"
	case primaryCode(err) == lib.SQLITE_NOTADB, primaryCode(err) == lib.SQLITE_CORRUPT:
		return "corrupt", fmt.Sprintf("%s in %s is damaged or is not a database: restore it from a backup, or move it away to begin anew", DatabaseName, s.dir)
	case primaryCode(err) == lib.SQLITE_BUSY, primaryCode(err) == lib.SQLITE_LOCKED:
		return "busy", "another program holds the database: try again, or end that program"
	case primaryCode(err) == lib.SQLITE_IOERR:
		return "io", "the disk or file system reports errors: see the kernel's log (dmesg)"
	}
	return "", ""
}

// isFull tells an I/O error that comes from a full disk: SQLite reports the files beside the database that way.
func (s *Store) isFull(err error) bool {
	if primaryCode(err) != lib.SQLITE_IOERR {
		return false
	}
	var st syscall.Statfs_t
	return syscall.Statfs(s.dir, &st) == nil && st.Bavail*uint64(st.Bsize) < 64<<10
}

// primaryCode is the SQLite result code in err's chain without its extension; 0 when there is none.
func primaryCode(err error) int { return sqliteCode(err) & 0xff }

func sqliteCode(err error) int {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code()
}

func isUnique(err error) bool {
	code := sqliteCode(err)
	return code == lib.SQLITE_CONSTRAINT_UNIQUE || code == lib.SQLITE_CONSTRAINT_PRIMARYKEY
}

// explainRun is explain for what needs a run: a row that is missing, here or behind a foreign key, is the run that is not there.
func (s *Store) explainRun(err error, id, format string, args ...any) error {
	if errors.Is(err, sql.ErrNoRows) || sqliteCode(err) == lib.SQLITE_CONSTRAINT_FOREIGNKEY {
		return noRun(id)
	}
	return s.explain(err, format, args...)
}

func noRun(id string) error {
	return fault.New(fault.Store, "no_run", "`assay runs` lists the runs of this data directory", "run %q: %w", id, ErrNotFound)
}
