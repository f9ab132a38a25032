package lock

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"assay/fault"
)

// Holder is who holds a data directory's lock.
type Holder struct {
	PID    int    `json:"pid"`
	Socket string `json:"socket,omitempty"` // of the daemon's API; "" when the holder is a single run
}

// Lock is the one lock of a data directory: whoever holds it may start servers.
type Lock struct{ file *os.File }

// ErrHeld means that another process holds the data directory.
var ErrHeld = errors.New("data directory is in use")

// Take takes the lock of a data directory without waiting. When it is held, the error is ErrHeld and Holder says by whom.
func Take(dir, socket string) (*Lock, Holder, error) {
	f, holder, err := tryLock(dir, syscall.LOCK_EX)
	if err != nil {
		return nil, holder, err
	}
	b, err := json.Marshal(Holder{PID: os.Getpid(), Socket: socket})
	if err == nil {
		err = errors.Join(f.Truncate(0), writeAt(f, b), f.Sync())
	}
	if err != nil {
		f.Close()
		return nil, Holder{}, fault.New(fault.Store, "not_writable", "free some space in the data directory", "write %s: %w", f.Name(), err)
	}
	return &Lock{file: f}, Holder{}, nil
}

// tryLock opens the lock file and locks it, without waiting, as how says.
func tryLock(dir string, how int) (*os.File, Holder, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, Holder{}, fault.New(fault.Store, "not_writable", "choose another directory with --data, or make this one writable",
			"cannot open the lock of the data directory: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); err != nil {
		defer f.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, Holder{}, fmt.Errorf("lock %s: %w", f.Name(), err)
		}
		return nil, readHolder(f.Name()), ErrHeld
	}
	return f, Holder{}, nil
}

// HolderOf says whether a data directory is held, and by whom. It asks with a shared lock and writes nothing, so that it is in
// the way of a program that starts for no longer than the question takes.
func HolderOf(dir string) (bool, Holder, error) {
	f, holder, err := tryLock(dir, syscall.LOCK_SH)
	if errors.Is(err, ErrHeld) {
		return true, holder, nil
	}
	if err != nil {
		return false, Holder{}, err
	}
	return false, Holder{}, f.Close()
}

func writeAt(f *os.File, b []byte) error {
	_, err := f.WriteAt(b, 0)
	return err
}

func readHolder(name string) Holder {
	var h Holder
	b, err := os.ReadFile(name)
	if err != nil || json.Unmarshal(b, &h) != nil {
		return Holder{}
	}
	return h
}

// Release gives the lock back; the kernel does the same when the process dies.
func (l *Lock) Release() error { return l.file.Close() }
