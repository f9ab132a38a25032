package stream

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"assay/runner/load/stream/poll"
)

// wires is how a client reads its plain TCP connections: one goroutine for all, which stamps, parses and hands on what arrives while the
// goroutines of the requests sleep. It begins with the first connection.
type wires struct {
	mu     sync.Mutex
	poller *poll.Poller[wire]
}

// plain has the wires read a TCP connection; any other one is read by its request's goroutine.
func (d *dialer) plain(c net.Conn) (link, reader, error) {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return c, newUserReader(c, d.clock), nil
	}
	w, err := d.wires.adopt(tcp, d.clock)
	return w, w, err
}

// adopt makes a wire of a connection.
func (ws *wires) adopt(c *net.TCPConn, clock *Clock) (*wire, error) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	defer func() { _ = c.Close() }()
	if ws.poller == nil {
		p, err := poll.Open[wire]()
		if err != nil {
			return nil, err
		}
		ws.poller = p
		go p.Run(reading())
	}
	fd, err := duplicate(c)
	if err != nil {
		return nil, err
	}
	w := &wire{fd: fd, poller: ws.poller, clock: clock, stamped: true, room: smallRead, wake: make(chan error, 1)}
	ws.poller.Add(fd, w)
	return w, nil
}

// duplicate gives a descriptor of the connection that the runtime's poller does not know: it would wake up for each arrival too.
func duplicate(c *net.TCPConn) (fd int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	err = raw.Control(func(old uintptr) { fd, failed = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0) })
	return fd, errors.Join(err, os.NewSyscallError("dup", failed))
}

// reading handles wires that are ready. What it reads into is the same for all, which the processor has at hand.
func reading() func([]*wire) {
	in := newInbox()
	return func(ready []*wire) {
		in.warmth += warm(ready)
		for _, w := range ready {
			w.ready(in)
		}
	}
}

func (ws *wires) close() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.poller != nil {
		_ = ws.poller.Close()
		ws.poller = nil
	}
}

// wire is a plain TCP connection. One goroutine at a time writes or reads it; the reading itself is the poller's.
type wire struct {
	fd     int
	poller *poll.Poller[wire]
	clock  *Clock
	wake   chan error               // how a wait ended
	reader atomic.Pointer[Exchange] // that read last

	mu       sync.Mutex
	taker    taker  // of the bytes to come
	awaited  uint32 // what a goroutine waits for; 0: none waits
	watched  uint32 // what the poller looks for
	deadline time.Time
	timer    *time.Timer
	rings    time.Time // when the timer does; zero when it is not set
	room     int       // bytes of the next read
	last     int64
	stamped  bool
	closed   bool
}

func (w *wire) kernel() bool { return w.stamped }

func (w *wire) read(by taker) error {
	if x, ok := by.(*Exchange); ok {
		w.reader.Store(x)
	}
	return w.await(poll.In, by)
}

// Write sends everything, and gives how many bytes went out when it could not.
func (w *wire) Write(b []byte) (int, error) {
	for sent := 0; ; {
		n, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(w.fd), uintptr(unsafe.Pointer(unsafe.SliceData(b[sent:]))), uintptr(len(b)-sent), unix.MSG_NOSIGNAL, 0, 0)
		switch errno {
		case 0:
			if sent += int(n); sent == len(b) {
				return sent, nil
			}
		case unix.EINTR:
		case unix.EAGAIN:
			if err := w.await(poll.Out, nil); err != nil {
				return sent, err
			}
		default:
			return sent, errno
		}
	}
}

// await waits until the poller has done what the connection was ready for, or the deadline passes.
func (w *wire) await(event uint32, by taker) error {
	if err := w.begin(event, by); err != nil {
		return err
	}
	return <-w.wake
}

func (w *wire) begin(event uint32, by taker) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
		return net.ErrClosed
	case w.late():
		return os.ErrDeadlineExceeded
	}
	w.awaited, w.taker = event, by
	return w.watch(event)
}

// end ends a wait.
func (w *wire) end(err error) {
	if w.awaited != 0 {
		w.awaited, w.taker = 0, nil
		w.wake <- err
	}
}

func (w *wire) watch(event uint32) error {
	err := w.poller.Watch(w.fd, w.watched, event)
	w.watched = event
	return err
}

// ready does what a goroutine waits for. What nobody waits for is not looked for any more.
func (w *wire) ready(in *inbox) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
	case w.awaited == 0:
		_ = w.watch(0)
	case w.taker == nil:
		w.end(nil)
	default:
		w.receive(in)
	}
}

// receive hands on what one read brings.
func (w *wire) receive(in *inbox) {
	n, errno := in.receive(uintptr(w.fd), w.room)
	switch {
	case errno == unix.EAGAIN:
	case errno != 0:
		w.end(errno)
	case n == 0:
		w.end(io.EOF)
	default:
		w.room = fit(w.room, n)
		at, late := w.place(in.stamp(), w.clock.Now())
		if !w.taker.arrived(arrival{in.buf[:n], at, late}) {
			w.end(nil)
		}
	}
}

func (w *wire) late() bool { return !w.deadline.IsZero() && time.Until(w.deadline) <= 0 }

// SetDeadline ends a wait at an instant, now when that has passed. A timer that rings before is left to, and set anew then: most
// deadlines are put off before they come.
func (w *wire) SetDeadline(t time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch w.deadline = t; {
	case w.closed:
		return net.ErrClosed
	case w.late():
		w.end(os.ErrDeadlineExceeded)
	case !t.IsZero() && (w.rings.IsZero() || t.Before(w.rings)):
		w.ring()
	}
	return nil
}

func (w *wire) ring() {
	w.rings = w.deadline
	if w.timer == nil {
		w.timer = time.AfterFunc(time.Until(w.rings), w.rang)
		return
	}
	w.timer.Reset(time.Until(w.rings))
}

func (w *wire) rang() {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch w.rings = (time.Time{}); {
	case w.closed || w.deadline.IsZero():
	case w.late():
		w.end(os.ErrDeadlineExceeded)
	default:
		w.ring()
	}
}

// Close ends whatever is waited for.
func (w *wire) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return net.ErrClosed
	}
	w.closed = true
	w.end(net.ErrClosed)
	if w.timer != nil {
		w.timer.Stop()
	}
	w.poller.Remove(w.fd)
	return unix.Close(w.fd)
}

// place puts the kernel's stamp on the clock, and says how long after it now is; below 0 without one. A stamp outside of what is
// possible (the clock stepped since the offset was read, or the kernel gave none) is replaced by the time of the read.
func (w *wire) place(ns, now int64) (at, late int64) {
	at, late = now, -1
	if ns == 0 {
		w.stamped = false
	} else if t := w.clock.fromKernel(ns); t >= w.last-clockStep.Microseconds() && t <= now+clockStep.Microseconds() {
		at = min(max(t, w.last), now)
		late = now - at
	}
	w.last = at
	return at, late
}

// askStamps makes the kernel note when each segment arrives. A kernel that cannot gives no stamps, and the wire then stamps itself.
func askStamps(_, _ string, raw syscall.RawConn) error {
	return raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	})
}

// alive says whether an idle connection can still be used: the other side has neither closed it nor sent anything.
func alive(c link) bool {
	if w, plain := c.(*wire); plain {
		return quiet(w.fd)
	}
	sys, ok := c.(syscall.Conn)
	if !ok {
		return true // TLS hides its descriptor; the idle limit has to do
	}
	raw, err := sys.SyscallConn()
	if err != nil {
		return false
	}
	still := false
	err = raw.Read(func(fd uintptr) bool {
		still = quiet(int(fd))
		return true
	})
	return err == nil && still
}

func quiet(fd int) bool {
	var b [1]byte
	_, _, err := unix.Recvfrom(fd, b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	return errors.Is(err, unix.EAGAIN)
}
