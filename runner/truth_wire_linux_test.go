package runner_test

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// wire is the server's end of the connections: it knows from the kernel when bytes came. So an instant of sending is held against
// something that is not the client's, and that does not wait for the server's processor.
type wire struct {
	net.Listener
	mu sync.Mutex
	at map[string][]int64 // by the client's end, UTC µs
}

func listen(t testing.TB) *wire {
	t.Helper()
	stamped := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error { // connections inherit it
		var failed error
		return errors.Join(raw.Control(func(fd uintptr) { failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1) }), failed)
	}}
	l, err := stamped.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return &wire{Listener: l, at: map[string][]int64{}}
}

func (w *wire) Accept() (net.Conn, error) {
	c, err := w.Listener.Accept()
	if err != nil {
		return nil, err
	}
	plain := c.(*net.TCPConn)
	raw, err := plain.SyscallConn()
	return &stampedConn{TCPConn: plain, raw: raw, wire: w}, err
}

// came is when the last bytes came before us, UTC; 0 when none did.
func (w *wire) came(remote string, us int64) (at int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, stamp := range w.at[remote] {
		if stamp <= us {
			at = stamp
		}
	}
	return at
}

type stampedConn struct {
	*net.TCPConn
	raw  syscall.RawConn
	wire *wire
}

func (c *stampedConn) Read(b []byte) (n int, err error) {
	control := make([]byte, unix.CmsgSpace(int(unsafe.Sizeof(unix.Timespec{}))))
	var got int
	var failed error
	if err := c.raw.Read(func(fd uintptr) bool {
		n, got, _, _, failed = unix.Recvmsg(int(fd), b, control, unix.MSG_DONTWAIT)
		return !errors.Is(failed, unix.EAGAIN)
	}); err != nil {
		return 0, err
	}
	switch {
	case failed != nil:
		return 0, failed
	case n == 0:
		return 0, io.EOF
	}
	c.note(control[:got])
	return n, nil
}

func (c *stampedConn) note(control []byte) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return
	}
	for _, m := range messages {
		if m.Header.Type != unix.SCM_TIMESTAMPNS {
			continue
		}
		ts := (*unix.Timespec)(unsafe.Pointer(&m.Data[0]))
		c.wire.mu.Lock()
		remote := c.RemoteAddr().String()
		c.wire.at[remote] = append(c.wire.at[remote], ts.Nano()/1000)
		c.wire.mu.Unlock()
	}
}
