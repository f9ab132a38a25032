package stream

import (
	"errors"
	"io"
	"net"
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
func stampedReader(c net.Conn, clock *Clock) reader {
	plain, ok := c.(*net.TCPConn)
	if !ok {
		return userReader{c, clock}
	}
	raw, err := plain.SyscallConn()
	if err != nil {
		return userReader{c, clock}
	}
	r := &kernelReader{raw: raw, clock: clock, stamped: true}
	r.step = r.receive // made once, so that a read allocates nothing
	return r
}

// kernelReader reads with recvmsg. RawSyscall leaves the scheduler alone: the call cannot block, the descriptor is in
// non-blocking mode and the runtime's poller waits for it.
type kernelReader struct {
	raw     syscall.RawConn
	clock   *Clock
	step    func(fd uintptr) bool
	stamped bool

	buf  []byte
	n    int
	ns   int64
	err  syscall.Errno
	last int64
	lag  int64 // of the last read behind its stamp; below 0 without one

	header  unix.Msghdr
	vector  unix.Iovec
	control [64]byte
}

func (r *kernelReader) kernel() bool { return r.stamped }

func (r *kernelReader) late() int64 { return r.lag }

func (r *kernelReader) read(b []byte) (int, int64, error) {
	r.buf = b
	err := r.raw.Read(r.step)
	r.buf = nil
	now := r.clock.Now()
	switch {
	case err != nil:
		return 0, now, err
	case r.err != 0:
		return 0, now, r.err
	case r.n == 0:
		return 0, now, io.EOF
	}
	return r.n, r.place(now), nil
}

// place puts the kernel's stamp on the clock. A stamp outside of what is possible (the clock stepped since the offset
// was read, or the kernel gave none) is replaced by the time of the read.
func (r *kernelReader) place(now int64) int64 {
	at := now
	r.lag = -1
	if r.ns == 0 {
		r.stamped = false
	} else if t := r.clock.fromKernel(r.ns); t >= r.last-clockStep.Microseconds() && t <= now+clockStep.Microseconds() {
		at = min(max(t, r.last), now)
		r.lag = now - at
	}
	r.last = at
	return at
}

// receive tries once; false makes the poller wait until the descriptor is readable.
func (r *kernelReader) receive(fd uintptr) bool {
	r.vector.Base = &r.buf[0]
	r.vector.SetLen(len(r.buf))
	r.header = unix.Msghdr{Iov: &r.vector, Control: &r.control[0]}
	r.header.SetIovlen(1)
	r.header.SetControllen(len(r.control))
	for {
		n, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&r.header)), 0)
		if errno == unix.EINTR {
			continue
		}
		if errno == unix.EAGAIN {
			return false
		}
		r.n, r.err, r.ns = int(n), errno, 0
		if errno != 0 {
			r.n = 0
		} else if n > 0 {
			r.ns = stampOf(r.control[:min(uint64(r.header.Controllen), uint64(len(r.control)))])
		}
		return true
	}
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
