package poll

import (
	"errors"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// In and Out are what a descriptor can be ready for. The other side's end, or an error, makes it ready for both.
const (
	In  uint32 = unix.EPOLLIN
	Out uint32 = unix.EPOLLOUT
)

const (
	atOnce  = 256                    // descriptors of one look
	restFor = 250 * time.Microsecond // before the next look
	worth   = 4                      // ready descriptors that make a rest pay
	share   = 4                      // part of all descriptors that may be ready in one look to rest before the next
)

// Poller is an epoll instance (level-triggered) over descriptors that each belong to a T.
type Poller[T any] struct {
	fd   int
	gate *os.File // an instance with the other one in it, known to the runtime's poller
	door syscall.RawConn

	mu     sync.Mutex
	owners []*T // by descriptor
	count  int  // of descriptors
	closed bool

	events [atOnce]unix.EpollEvent
	ready  [atOnce]*T
}

// Open makes a poller of nothing.
func Open[T any]() (*Poller[T], error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create", err)
	}
	gate, err := gateTo(fd)
	if err != nil {
		return nil, errors.Join(os.NewSyscallError("epoll_create", err), unix.Close(fd))
	}
	door, err := gate.SyscallConn()
	return &Poller[T]{fd: fd, gate: gate, door: door}, err
}

// gateTo makes the instance that the runtime's poller looks at. It tells of the other one when that was asked for only: the runtime
// would wake up for whatever comes while the reader is at work.
func gateTo(fd int) (*os.File, error) {
	gate, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	err = errors.Join(unix.SetNonblock(gate, true), unix.EpollCtl(gate, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLONESHOT}))
	return os.NewFile(uintptr(gate), "epoll"), err
}

// Close ends Run. The descriptors stay open, and can be watched no more.
func (p *Poller[T]) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	return p.gate.Close()
}

// Add takes a descriptor in, to be watched for nothing yet.
func (p *Poller[T]) Add(fd int, owner *T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for fd >= len(p.owners) {
		p.owners = append(p.owners, nil)
	}
	p.owners[fd] = owner
	p.count++
}

// Remove leaves a descriptor out; it must be called before that is closed.
func (p *Poller[T]) Remove(fd int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.owners[fd] = nil
	p.count--
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
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return os.ErrClosed
	}
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(p.fd, op, fd, &unix.EpollEvent{Events: now, Fd: int32(fd)}))
}

// Run calls handle with the owners of the descriptors that are ready, again and again as long as they are, until Close. An owner whose
// descriptor was removed meanwhile may still come. The slice is valid until handle returns.
func (p *Poller[T]) Run(handle func([]*T)) {
	defer func() { _ = unix.Close(p.fd) }()
	_ = p.door.Read(func(gate uintptr) bool { // ends with Close alone
		var told [1]unix.EpollEvent
		_, _ = wait(gate, told[:])
		for p.look(handle) {
		}
		return unix.EpollCtl(int(gate), unix.EPOLL_CTL_MOD, p.fd, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLONESHOT}) != nil
	})
}

// look handles what is ready and says whether there was anything.
func (p *Poller[T]) look(handle func([]*T)) bool {
	n, errno := wait(uintptr(p.fd), p.events[:])
	if n == 0 {
		return errno == unix.EINTR
	}
	ready, many := p.find(n)
	handle(ready)
	if n >= worth && !many {
		rest()
	}
	return true
}

// find looks up whose events they are, and says whether that is a large part of all.
func (p *Poller[T]) find(n int) (ready []*T, many bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ready = p.ready[:0]
	for _, e := range p.events[:n] {
		if owner := p.owners[e.Fd]; owner != nil {
			ready = append(ready, owner)
		}
	}
	return ready, n*share > p.count
}

// wait asks an instance for its events without waiting: RawSyscall leaves the scheduler alone.
func wait(epoll uintptr, events []unix.EpollEvent) (int, syscall.Errno) {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, epoll, uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), 0, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

// rest lets some more come: going to sleep and waking up cost as much as a few events. Where a large part of the descriptors is ready
// at once that would be too long, for the next event of one of them would come too.
func rest() {
	t := unix.NsecToTimespec(restFor.Nanoseconds())
	_, _, _ = unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&t)), 0, 0)
}
