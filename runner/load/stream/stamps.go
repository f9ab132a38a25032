package stream

import (
	"context"
	"net"
	"time"
)

// stamps keeps the kernel's receive stamps switched on. The kernel begins to stamp some time after the first socket has
// asked for it, and stops with the last one: a connection of our own to ourselves stays open for as long as the load
// runs, and shows whether stamps really come.
type stamps struct {
	local  []link
	kernel bool
}

const stampTries = 500 // a millisecond apart: a busy kernel takes its time to begin

// open switches stamps on.
func (s *stamps) open(ctx context.Context, d *dialer) {
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		return
	}
	defer l.Close()
	dialer := net.Dialer{Timeout: time.Second, Control: askStamps}
	ours, err := dialer.DialContext(ctx, "tcp", l.Addr().String())
	if err != nil {
		return
	}
	to, reads, err := d.plain(ours)
	if err != nil {
		return
	}
	s.local = append(s.local, to)
	theirs, err := l.Accept()
	if err != nil {
		return
	}
	s.local = append(s.local, theirs)
	s.kernel = stampsCome(theirs, to, reads)
}

// stampsCome sends bytes over a connection until the kernel has stamped one.
func stampsCome(from, to link, r reader) bool {
	for range stampTries {
		deadline := time.Now().Add(time.Second)
		if to.SetDeadline(deadline) != nil || from.SetDeadline(deadline) != nil {
			return false
		}
		if _, err := from.Write([]byte{0}); err != nil {
			return false
		}
		var got stamped
		if err := r.read(&got); err != nil || bool(got) {
			return bool(got)
		}
		<-time.After(time.Millisecond)
	}
	return false
}

// stamped says whether the kernel has stamped what came.
type stamped bool

func (s *stamped) arrived(a arrival) bool {
	*s = a.lateUS >= 0
	return false
}

func (s *stamps) close() {
	for _, c := range s.local {
		c.Close()
	}
}
