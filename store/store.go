package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"syscall"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"assay/fault"
)

//go:embed migrations/*.sql
var migrations embed.FS

// DatabaseName is the database's file in a data directory.
const DatabaseName = "assay.db"

// readers is how many connections read at the same time; each keeps a page cache of its own.
const readers = 3

// Store is an open data directory. It is safe for concurrent use, also by several programs.
type Store struct {
	dir   string
	write *sql.DB // one connection, so that writers wait in Go and not in SQLite's busy loop
	read  *sql.DB
}

// Open opens the data directory, makes it (0700) where it is missing, and brings its database to this program's version.
func Open(ctx context.Context, dir string) (*Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open data directory: %w", err)
	}
	s := &Store{dir: dir}
	if err := os.MkdirAll(filepath.Join(dir, "runs"), 0o700); err != nil {
		return nil, s.explain(err, "make data directory %s", dir)
	}
	if s.write, err = openPool(dir, 1, "_txlock=immediate"); err != nil {
		return nil, err
	}
	if s.read, err = openPool(dir, readers, "_pragma=query_only(1)"); err != nil {
		return nil, errors.Join(err, s.write.Close())
	}
	if err := s.migrate(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close closes the database; what was committed is safe.
func (s *Store) Close() error {
	if err := errors.Join(s.read.Close(), s.write.Close()); err != nil {
		return fmt.Errorf("close database: %w", err)
	}
	return nil
}

// Dir is the data directory.
func (s *Store) Dir() string { return s.dir }

// RunDir is the folder of a run's files.
func (s *Store) RunDir(id string) string { return filepath.Join(s.dir, "runs", id) }

// Owner is the random mark of this data directory, made with its database; what is started for it carries the mark.
func (s *Store) Owner(ctx context.Context) (string, error) {
	var owner string
	err := s.read.QueryRowContext(ctx, `SELECT owner FROM meta`).Scan(&owner)
	return owner, s.explain(err, "read the owner of %s", s.dir)
}

// dsn names the database with its pragmas: they stand here because a pragma run by Exec reaches one pooled connection only.
// busy_timeout comes first, so that the others wait for a lock too.
func dsn(dir, more string) string {
	u := url.URL{Scheme: "file", Path: filepath.Join(dir, DatabaseName)}
	u.RawQuery = "_pragma=busy_timeout(30000)&_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)&_pragma=synchronous(NORMAL)&" + more
	return u.String()
}

func openPool(dir string, size int, more string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", dsn(dir, more))
	if err != nil {
		return nil, fmt.Errorf("open database in %s: %w", dir, err)
	}
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	return db, nil
}

// migrate brings the schema to this program's version, one program at a time.
func (s *Store) migrate(ctx context.Context) error {
	unlock, err := s.lockSchema()
	if err != nil {
		return s.explain(err, "open database in %s", s.dir)
	}
	defer unlock()
	if err := s.tryWrite(ctx); err != nil {
		return s.explain(err, "open database in %s", s.dir)
	}
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, s.write, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	have, want, err := p.GetVersions(ctx)
	if err != nil {
		return s.explain(err, "read the version of the database in %s", s.dir)
	}
	if have > want {
		return fault.New(fault.Store, "newer", "use a newer assay, or another data directory (--data)",
			"the database in %s has version %d, this program knows versions up to %d", s.dir, have, want)
	}
	if _, err := p.Up(ctx); err != nil {
		return s.explain(err, "upgrade database in %s", s.dir)
	}
	return nil
}

// lockSchema keeps other programs from upgrading the same database at the same time. The kernel frees it with the program.
func (s *Store) lockSchema() (unlock func(), err error) {
	f, err := os.Open(s.dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { f.Close() }, nil
}

// tryWrite finds out at once whether the database can be read and written: the migrations would retry for seconds.
func (s *Store) tryWrite(ctx context.Context) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	return tx.Rollback()
}
