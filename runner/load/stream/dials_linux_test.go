package stream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestDialsAtOnceAreLimited: of a server that takes no connection, no more are asked for at once than the backlogs of common servers hold.
func TestDialsAtOnceAreLimited(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	raw, err := l.(*net.TCPListener).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := shorten(raw); err != nil {
		t.Fatal(err)
	}
	cfg := config(t, "http://"+l.Addr().String())
	client := cfg.client()
	defer client.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = client.Dial(ctx, 600) // it is cut off
	}()
	if got := settled(t, l.Addr().(*net.TCPAddr).Port); got > 256 || got < 200 {
		t.Errorf("%d connections are asked for at once; a backlog of a common server holds 256", got)
	}
	cancel()
	<-ended
}

// shorten leaves a listener room for one connection that nobody took; what comes then is not answered.
func shorten(raw syscall.RawConn) error {
	var failed error
	return errors.Join(raw.Control(func(fd uintptr) { failed = unix.Listen(int(fd), 1) }), failed)
}

// settled counts the connections to a local port that are asked for, when their number no longer grows.
func settled(t *testing.T, port int) int {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	before, same := -1, 0
	for range 500 {
		n := asking(t, port)
		if same++; n != before || n == 0 {
			before, same = n, 0
		}
		if same == 10 {
			return n
		}
		<-tick.C
	}
	t.Errorf("the number of dials never settled; it is %d", before)
	return before
}

// asking counts sockets in the state SYN_SENT towards a local port.
func asking(t *testing.T, port int) int {
	t.Helper()
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		t.Skipf("the kernel does not list its sockets: %v", err)
	}
	n, to := 0, fmt.Sprintf("0100007F:%04X", port)
	for line := range strings.Lines(string(table)) {
		if f := strings.Fields(line); len(f) > 3 && f[2] == to && f[3] == "02" {
			n++
		}
	}
	return n
}
