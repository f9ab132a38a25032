package stream

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// wired gives a wire to a connection of the test.
func wired(t *testing.T) (*wire, net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	cfg := config(t, "http://"+l.Addr().String())
	client := cfg.client()
	t.Cleanup(client.Close)
	c, _, err := client.dialer.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	there, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.close()
		there.Close()
	})
	return c.link.(*wire), there
}

// takes is a taker that a test writes down.
type takes func(arrival) bool

func (t takes) arrived(a arrival) bool { return t(a) }

// TestLongWrites wait for a server that reads late, and go out whole.
func TestLongWrites(t *testing.T) {
	w, there := wired(t)
	message := bytes.Repeat([]byte("0123456789abcdef"), 2<<20)
	got := make(chan []byte)
	go func() {
		<-time.After(50 * time.Millisecond)
		b := make([]byte, len(message))
		_, _ = io.ReadFull(there, b)
		got <- b
	}()
	if n, err := w.Write(message); n != len(message) || err != nil {
		t.Fatalf("%d bytes, %v", n, err)
	}
	if !bytes.Equal(<-got, message) {
		t.Error("other bytes came than were sent")
	}
}

// TestDeadlines end what waits, before it begins or after; one that was put off does not.
func TestDeadlines(t *testing.T) {
	w, there := wired(t)
	hear := func() error { return w.read(takes(func(arrival) bool { return false })) }
	if w.SetDeadline(time.Now().Add(20*time.Millisecond)) != nil {
		t.Fatal("no deadline")
	}
	if n, err := w.Write(make([]byte, 64<<20)); n == 0 || n == 64<<20 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a server that reads nothing took %d bytes, %v", n, err)
	}
	if err := hear(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("after the deadline: %v", err)
	}
	_ = w.SetDeadline(time.Now().Add(20 * time.Millisecond))
	_ = w.SetDeadline(time.Now().Add(time.Hour))
	time.AfterFunc(80*time.Millisecond, func() { io.WriteString(there, "x") })
	if err := hear(); err != nil {
		t.Errorf("the deadline was put off: %v", err)
	}
	time.AfterFunc(20*time.Millisecond, func() { _ = w.SetDeadline(time.Unix(1, 0)) })
	if err := hear(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("interrupted: %v", err)
	}
	_ = w.SetDeadline(time.Time{})
	time.AfterFunc(20*time.Millisecond, func() { w.Close() })
	if err := hear(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}
