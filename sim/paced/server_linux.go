package paced

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	pollEveryNS  = 100_000   // a busy server looks for requests this often
	longestNapNS = 1_000_000 // and an idle one whether it has to end
	shortNapNS   = 20_000    // a shorter sleep costs more than it saves
	awakeNS      = 100_000   // a core that slept is slow at first: after a longer sleep it waits so long awake for what is due
)

// server is one thread's loop over its sockets. System calls are raw: none of them blocks for longer than a nap, and the scheduler
// need not know.
type server struct {
	Config
	clock   clock
	log     *Log
	poll    int
	listen  int
	conns   []*conn // by descriptor
	due     queue
	issued  uint64
	lookNS  int64 // when to look for requests next
	awake   bool  // it slept, and waits for what is due
	ready   [512]unix.EpollEvent
	in, out []byte
}

// Serve answers on l until ctx ends. It needs a thread, which it locks.
func Serve(ctx context.Context, l *net.TCPListener, cfg Config, log *Log) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer runtime.KeepAlive(l) // only its descriptor is used, which a listener that nobody needs would close
	raw, err := l.SyscallConn()
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	s := &server{Config: cfg, clock: newClock(), log: log, in: make([]byte, 64<<10)}
	if s.poll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return fmt.Errorf("make a poller: %w", err)
	}
	defer func() { _ = unix.Close(s.poll) }()
	if err := raw.Control(func(fd uintptr) { s.listen = int(fd) }); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if err := s.watch(unix.EPOLL_CTL_ADD, s.listen, unix.EPOLLIN); err != nil {
		return fmt.Errorf("watch the socket: %w", err)
	}
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1000, 0, 0, 0) // without it naps are longer
	for ctx.Err() == nil {
		s.step()
	}
	for _, c := range s.conns {
		if c != nil {
			s.close(c)
		}
	}
	return nil
}

func (s *server) watch(how, fd int, events uint32) error {
	return unix.EpollCtl(s.poll, how, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)})
}

// step writes what is due, looks at the sockets, and sleeps until there is something to do.
func (s *server) step() {
	now := s.clock.now()
	for len(s.due) > 0 && s.due[0].dueNS <= now {
		s.awake = false
		s.emit(s.due.pop())
		if now = s.clock.now(); now >= s.lookNS {
			break
		}
	}
	if now >= s.lookNS {
		s.look()
		s.lookNS = s.clock.now() + pollEveryNS
		return
	}
	until := now + longestNapNS
	if len(s.due) > 0 {
		until = min(until, s.due[0].dueNS)
	}
	s.wait(until - now)
}

// wait sleeps for so long, but for the last part of a longer time.
func (s *server) wait(ns int64) {
	switch {
	case ns > awakeNS && len(s.due) > 0:
		s.awake = true
		s.nap(max(ns-awakeNS, shortNapNS))
	case ns > 0 && !s.awake:
		s.nap(max(ns, shortNapNS))
	}
}

// nap sleeps until a socket is ready, for so long at most.
func (s *server) nap(ns int64) {
	wait := unix.NsecToTimespec(ns)
	fds := unix.PollFd{Fd: int32(s.poll), Events: unix.POLLIN}
	n, _, _ := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&fds)), 1, uintptr(unsafe.Pointer(&wait)), 0, 0, 0)
	if n == 1 {
		s.lookNS = 0
	}
}

// look handles what is ready.
func (s *server) look() {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(s.poll), uintptr(unsafe.Pointer(&s.ready[0])), uintptr(len(s.ready)), 0, 0, 0)
	if errno != 0 {
		return
	}
	for _, e := range s.ready[:n] {
		fd := int(e.Fd)
		switch {
		case fd == s.listen:
			s.accept()
		case s.conns[fd] == nil: // closed in this very round
		case e.Events&unix.EPOLLOUT != 0:
			s.resume(s.conns[fd])
		default:
			s.read(s.conns[fd])
		}
	}
}

// accept takes what connections there are.
func (s *server) accept() {
	for range len(s.ready) {
		fd, _, err := unix.Accept4(s.listen, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if err != nil {
			return
		}
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
		if s.watch(unix.EPOLL_CTL_ADD, fd, unix.EPOLLIN) != nil {
			_ = unix.Close(fd)
			continue
		}
		for len(s.conns) <= fd {
			s.conns = append(s.conns, nil)
		}
		s.conns[fd] = &conn{fd: fd}
	}
}

func (s *server) close(c *conn) {
	if c.stream != nil {
		s.end(c.stream, false)
	}
	s.conns[c.fd] = nil
	_ = unix.Close(c.fd)
}

// read takes bytes of a request.
func (s *server) read(c *conn) {
	n, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(c.fd), uintptr(unsafe.Pointer(&s.in[0])), uintptr(len(s.in)))
	if errno == unix.EAGAIN || errno == unix.EINTR {
		return
	}
	if errno != 0 || n == 0 || c.stream != nil || len(c.in) > mostRequest { // nobody sends beside a stream
		s.close(c)
		return
	}
	c.in = append(c.in, s.in[:n]...)
	if len(c.in) < c.need {
		return
	}
	q, size, need, err := parseRequest(c.in)
	if c.need = need; err != nil {
		s.close(c)
		return
	}
	if size == 0 {
		return
	}
	c.in, c.need = nil, 0
	s.answer(c, q)
}

func (s *server) answer(c *conn, q request) {
	if !q.stream {
		if s.write(c, []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "+strconv.Itoa(len(models))+"\r\n\r\n"+models)) != nil {
			s.close(c)
		}
		return
	}
	st := newStream(c, s.issued, q, s.clock.now())
	s.issued++
	c.stream, st.dueNS = st, s.first(st.truth.ArrivedNS, st.truth.N)
	if s.write(c, []byte(answerHead)) != nil {
		s.close(c)
		return
	}
	s.due.push(st)
}

// emit sends a stream's next write.
func (s *server) emit(st *stream) {
	c := st.conn
	if c.stream != st {
		return // its connection was closed meanwhile
	}
	if !st.opened {
		st.opened = true
		if s.write(c, []byte(opening(st.truth.N))) != nil {
			s.close(c)
			return
		}
	}
	s.out = st.events(s.out[:0], min(s.Events, st.left), s.clock.now())
	err := s.write(c, s.out)
	if err == nil && st.left == 0 {
		err = s.write(c, []byte(closing(st.truth.N, len(st.truth.SentNS), st.usage)))
	}
	switch {
	case err != nil:
		s.close(c)
	case c.writing: // resume goes on
	case st.left == 0:
		s.end(st, true)
	default:
		st.dueNS = s.next(st.dueNS, s.clock.now())
		s.due.push(st)
	}
}

// write hands bytes to the kernel; what that does not take waits in the stream.
func (s *server) write(c *conn, b []byte) error {
	if c.writing {
		c.stream.pending = append(c.stream.pending, b...)
		return nil
	}
	n, _, errno := unix.RawSyscall(unix.SYS_WRITE, uintptr(c.fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	if errno == unix.EAGAIN || errno == unix.EINTR {
		n, errno = 0, 0
	}
	if errno != 0 {
		return errno
	}
	if int(n) == len(b) {
		return nil
	}
	if c.stream == nil {
		return errors.New("the client takes no answer")
	}
	c.writing = true
	c.stream.pending = append(c.stream.pending[:0], b[n:]...)
	return s.watch(unix.EPOLL_CTL_MOD, c.fd, unix.EPOLLIN|unix.EPOLLOUT)
}

// resume goes on with a stream whose reader took up again.
func (s *server) resume(c *conn) {
	st := c.stream
	c.writing = false
	rest := st.pending
	st.pending = nil
	if err := s.write(c, rest); err != nil {
		s.close(c)
		return
	}
	if c.writing {
		return
	}
	if s.watch(unix.EPOLL_CTL_MOD, c.fd, unix.EPOLLIN) != nil {
		s.close(c)
		return
	}
	if st.left == 0 {
		s.end(st, true)
		return
	}
	st.dueNS = s.next(st.dueNS, s.clock.now())
	s.due.push(st)
}

// end logs a stream.
func (s *server) end(st *stream, whole bool) {
	st.truth.EndedNS, st.truth.Whole = s.clock.now(), whole
	st.conn.stream, st.conn.writing = nil, false
	s.log.append(st.truth)
}
