package stream

import (
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// askStamps makes the kernel note when each segment arrives. A kernel that cannot gives no stamps, and the reader then
// stamps itself.
func askStamps(_, _ string, raw syscall.RawConn) error {
	return raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	})
}

// stampedReader reads a plain TCP connection by recvmsg with the kernel's stamps, and any other one by Read.
func stampedReader(c net.Conn, clock *Clock, spare *sync.Pool) reader {
	plain, ok := c.(*net.TCPConn)
	if !ok {
		return newUserReader(c, clock)
	}
	raw, err := plain.SyscallConn()
	if err != nil {
		return newUserReader(c, clock)
	}
	r := &kernelReader{raw: raw, clock: clock, spare: spare, stamped: true, room: smallRead}
	r.step = r.receive // made once, so that a read allocates nothing
	return r
}

// kernelReader reads with recvmsg. RawSyscall leaves the scheduler alone: the call cannot block, the descriptor is in
// non-blocking mode and the runtime's poller waits for it.
type kernelReader struct {
	raw     syscall.RawConn
	clock   *Clock
	spare   *sync.Pool // of inboxes
	step    func(fd uintptr) bool
	take    func(arrival) bool
	end     error // why reading ended; nil when it goes on
	last    int64
	room    int // bytes of the next read
	stamped bool
}

func (r *kernelReader) kernel() bool { return r.stamped }

func (r *kernelReader) read(take func(arrival) bool) error {
	r.take, r.end = take, nil
	if err := r.raw.Read(r.step); err != nil {
		return err
	}
	return r.end
}

// readsAtOnce bounds the reads between two looks at the connection's deadline.
const readsAtOnce = 16

// receive hands on what there is; false makes the poller wait until there is more. The inbox is borrowed: thousands of streams
// that wait need no memory to read into, and one after another reads into the same, which the processor has at hand.
func (r *kernelReader) receive(fd uintptr) bool {
	m, ok := r.spare.Get().(*inbox)
	if !ok {
		m = newInbox()
	}
	defer r.spare.Put(m)
	for range readsAtOnce {
		n, errno := m.receive(fd, r.room)
		switch {
		case errno == unix.EAGAIN:
			return false
		case errno != 0:
			r.end = errno
			return true
		case n == 0:
			r.end = io.EOF
			return true
		}
		r.room = fit(r.room, n)
		at, late := r.place(m.stamp(), r.clock.Now())
		if !r.take(arrival{m.buf[:n], at, late}) {
			return true
		}
	}
	return true
}

// place puts the kernel's stamp on the clock, and says how long after it now is; below 0 without one. A stamp outside of what is
// possible (the clock stepped since the offset was read, or the kernel gave none) is replaced by the time of the read.
func (r *kernelReader) place(ns, now int64) (at, late int64) {
	at, late = now, -1
	if ns == 0 {
		r.stamped = false
	} else if t := r.clock.fromKernel(ns); t >= r.last-clockStep.Microseconds() && t <= now+clockStep.Microseconds() {
		at = min(max(t, r.last), now)
		late = now - at
	}
	r.last = at
	return at, late
}

// inbox is what recvmsg fills.
type inbox struct {
	header  unix.Msghdr
	vector  unix.Iovec
	control [64]byte
	buf     []byte
}

func newInbox() *inbox {
	m := &inbox{buf: make([]byte, largeRead)}
	m.vector.Base = &m.buf[0]
	m.header = unix.Msghdr{Iov: &m.vector, Control: &m.control[0]}
	m.header.SetIovlen(1)
	return m
}

// receive reads up to room bytes, without waiting.
func (m *inbox) receive(fd uintptr, room int) (n int, errno syscall.Errno) {
	m.vector.SetLen(room)
	for {
		m.header.SetControllen(len(m.control))
		got, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&m.header)), 0)
		if errno == unix.EINTR {
			continue
		}
		if errno != 0 {
			return 0, errno
		}
		return int(got), 0
	}
}

// stamp is when the kernel received the last of the bytes; 0 when it does not say.
func (m *inbox) stamp() int64 {
	return stampOf(m.control[:min(uint64(m.header.Controllen), uint64(len(m.control)))])
}

// stampOf finds the stamp in a control message; 0 when there is none.
func stampOf(control []byte) int64 {
	const head = unix.SizeofCmsghdr
	if len(control) < head+int(unsafe.Sizeof(unix.Timespec{})) {
		return 0
	}
	h := (*unix.Cmsghdr)(unsafe.Pointer(&control[0]))
	if h.Level != unix.SOL_SOCKET || h.Type != unix.SCM_TIMESTAMPNS {
		return 0
	}
	ts := (*unix.Timespec)(unsafe.Pointer(&control[head]))
	return ts.Nano()
}

// alive says whether an idle connection can still be used: the other side has neither closed it nor sent anything.
func alive(c net.Conn) bool {
	sys, ok := c.(syscall.Conn)
	if !ok {
		return true // TLS hides its descriptor; the idle limit has to do
	}
	raw, err := sys.SyscallConn()
	if err != nil {
		return false
	}
	quiet := false
	err = raw.Read(func(fd uintptr) bool {
		var b [1]byte
		_, _, e := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		quiet = errors.Is(e, unix.EAGAIN)
		return true
	})
	return err == nil && quiet
}
