package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"

	"assay/agent"
	"assay/agent/lock"
	"assay/archive"
	"assay/cmd/assay/credential"
	"assay/containers"
	"assay/fault"
	"assay/store"
)

// session is this process holding the data directory: lock, store, agent.
type session struct {
	lock  *lock.Lock
	store *store.Store
	agent *agent.Agent
}

// openSession takes the data directory. When another process has it, the error is lock.ErrHeld and Holder says by whom.
func (a *app) openSession(ctx context.Context, socket string, log *slog.Logger) (*session, lock.Holder, error) {
	if err := errors.Join(enoughFiles(), makeDir(a.data)); err != nil {
		return nil, lock.Holder{}, err
	}
	held, holder, err := lock.Take(a.data, socket)
	if err != nil {
		return nil, holder, err
	}
	a.holds.Store(true)
	s, err := a.fill(ctx, held, log)
	if err != nil {
		return nil, holder, errors.Join(err, held.Release())
	}
	return s, holder, nil
}

func (a *app) fill(ctx context.Context, held *lock.Lock, log *slog.Logger) (*session, error) {
	st, err := store.Open(ctx, a.data)
	if err != nil {
		return nil, err
	}
	owner, err := st.Owner(ctx)
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	key, err := archive.LoadOrCreateKey(a.data)
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	ag := agent.New(agent.Config{Store: st, Host: a.live(), Program: program(), Owner: owner, Executable: a.executable,
		Token: credential.First(a.getenv), Key: key, Docker: containers.FindDocker(a.docker, a.getenv), Log: log, Now: a.now, Hurry: a.hurry})
	return &session{lock: held, store: st, agent: ag}, nil
}

// quiet is a logger for sessions whose warnings are for people.
func (a *app) quiet() *slog.Logger {
	return slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// close closes the store and then gives the lock back.
func (s *session) close() error { return errors.Join(s.store.Close(), s.lock.Release()) }

// leastFiles is what the program itself has open at most, with some to spare.
const leastFiles = 48

// enoughFiles tells a low limit of open files apart from a folder that cannot be used.
func enoughFiles() error {
	var files syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files) != nil || files.Cur >= leastFiles {
		return nil
	}
	return fault.New(fault.Preflight, "too_few_files", "raise the limit: ulimit -n 1024, LimitNOFILE of the service, --ulimit nofile of the container",
		"this process may have %d open files, fewer than the %d that it needs without any load", files.Cur, leastFiles)
}

func makeDir(dir string) error {
	err := os.MkdirAll(dir, 0o700)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC):
		return fault.New(fault.Store, "disk_full", "free some space, or choose another directory with --data", "cannot make the data directory %s: %w", dir, err)
	}
	return fault.New(fault.Store, "not_writable", "choose another directory with --data, or make this one writable", "cannot make the data directory %s: %w", dir, err)
}

// withRun opens the store, finds the run that ref means, and closes the store when do is done with it.
func (a *app) withRun(ctx context.Context, ref string, do func(*store.Store, store.Run) error) (err error) {
	st, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	run, err := st.FindRun(ctx, ref)
	if err != nil {
		return err
	}
	return do(st, run)
}

// withStore opens the store, and closes it when do is done with it. Where nothing was ever run there is none, and nothing to do.
func (a *app) withStore(ctx context.Context, do func(*store.Store) error) (err error) {
	st, err := a.openStore(ctx)
	if f := fault.Of(err, fault.Store); f != nil && f.Code == "plan.no_runs" {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return do(st)
}

// openStore opens the store for reading beside a daemon that may be writing.
func (a *app) openStore(ctx context.Context) (*store.Store, error) {
	_, err := os.Stat(filepath.Join(a.data, store.DatabaseName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.Store, "unreadable", "say with --data where the runs are, or run as who may read them", "cannot read the runs in %s: %w", a.data, err)
	}
	if err != nil {
		return nil, fault.New(fault.Plan, "no_runs", "make one with `assay demo`, or say with --data where the runs are",
			"there are no runs in %s", a.data)
	}
	st, err := store.Open(ctx, a.data)
	if err != nil {
		return nil, fmt.Errorf("open the runs in %s: %w", a.data, err)
	}
	return st, nil
}
