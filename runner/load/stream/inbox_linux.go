package stream

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// inbox is what recvmsg fills.
type inbox struct {
	header  unix.Msghdr
	vector  unix.Iovec
	control [64]byte
	buf     []byte
	warmth  uint64 // of what was touched ahead: a use for it
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
