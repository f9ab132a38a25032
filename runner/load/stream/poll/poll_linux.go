package poll

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// In and Out are what a descriptor can be ready for. The other side's end, or an error, makes it ready for both.
const (
	In  uint32 = unix.EPOLLIN
	Out uint32 = unix.EPOLLOUT
)

const atOnce = 256 // descriptors of one look

// Poller is an epoll instance (level-triggered) over descriptors that each belong to a T.
type Poller[T any] struct {
	file *os.File // of the instance: it is itself ready for the runtime's poller when one of its descriptors is
	raw  syscall.RawConn

	mu    sync.Mutex
	owner []*T // by descriptor

	events [atOnce]unix.EpollEvent
	ready  [atOnce]*T
}

// Open makes a poller of nothing.
func Open[T any]() (*Poller[T], error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	p := &Poller[T]{file: os.NewFile(uintptr(fd), "epoll")}
	if p.raw, err = p.file.SyscallConn(); err != nil {
		return nil, fmt.Errorf("poll: %w", err)
	}
	return p, nil
}

// Close ends Run. The descriptors stay open.
func (p *Poller[T]) Close() error { return p.file.Close() }

// Add takes a descriptor in, to be watched for nothing yet.
func (p *Poller[T]) Add(fd int, owner *T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for fd >= len(p.owner) {
		p.owner = append(p.owner, nil)
	}
	p.owner[fd] = owner
}

// Remove leaves a descriptor out; it must be called before that is closed.
func (p *Poller[T]) Remove(fd int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.owner[fd] = nil
}

// Watch changes what a descriptor is watched for, 0 for nothing.
func (p *Poller[T]) Watch(fd int, before, now uint32) error {
	op := unix.EPOLL_CTL_MOD
	switch {
	case before == now:
		return nil
	case before == 0:
		op = unix.EPOLL_CTL_ADD
	case now == 0:
		op = unix.EPOLL_CTL_DEL
	}
	var failed error
	err := p.raw.Control(func(epoll uintptr) {
		failed = unix.EpollCtl(int(epoll), op, fd, &unix.EpollEvent{Events: now, Fd: int32(fd)})
	})
	return errors.Join(err, os.NewSyscallError("epoll_ctl", failed))
}

// Run calls handle with the owner of each descriptor that is ready, again and again as long as it is, until Close. An owner whose
// descriptor was removed meanwhile may still come. handle says whether another goroutine has something to do now.
func (p *Poller[T]) Run(handle func(*T) (woke bool)) {
	_ = p.raw.Read(func(epoll uintptr) bool { // ends with Close alone
		for p.look(epoll, handle) {
		}
		return false
	})
}

// look handles what is ready and says whether there was anything. RawSyscall leaves the scheduler alone: the call does not wait.
func (p *Poller[T]) look(epoll uintptr, handle func(*T) bool) bool {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, epoll, uintptr(unsafe.Pointer(&p.events)), atOnce, 0, 0, 0)
	if errno != 0 || n == 0 {
		return errno == unix.EINTR
	}
	p.find(int(n))
	woke := false
	for _, owner := range p.ready[:n] {
		if owner != nil && handle(owner) {
			woke = true
		}
	}
	if woke {
		runtime.Gosched() // with one processor they would wait until nothing is ready here
	}
	return true
}

func (p *Poller[T]) find(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, e := range p.events[:n] {
		p.ready[i] = p.owner[e.Fd]
	}
}
