package poll

import (
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// pair is two ends of a connection that neither waits.
func pair(t *testing.T) (a, b int) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		unix.Close(fds[0])
		unix.Close(fds[1])
	})
	return fds[0], fds[1]
}

func send(t *testing.T, fd int, text string) {
	t.Helper()
	if _, err := unix.Write(fd, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// TestReadyUntilRead: what is left unread is told again, one owner after another, between long sleeps too; and Close ends it.
func TestReadyUntilRead(t *testing.T) {
	p, err := Open[int]()
	if err != nil {
		t.Fatal(err)
	}
	const n = 40
	var near, far [n]int
	for i := range n {
		near[i], far[i] = pair(t)
		p.Add(near[i], &near[i])
		if err := p.Watch(near[i], 0, In); err != nil {
			t.Fatal(err)
		}
	}
	got := make(chan string, 4*n)
	var running sync.WaitGroup
	running.Go(func() {
		p.Run(func(ready []*int) {
			for _, fd := range ready {
				var b [2]byte
				if n, err := unix.Read(*fd, b[:]); err == nil {
					got <- string(b[:n])
				}
			}
		})
	})
	for range 200 {
		for _, fd := range far {
			send(t, fd, "abcd")
		}
		for range 2 * n {
			if s := <-got; s != "ab" && s != "cd" {
				t.Fatalf("read %q", s)
			}
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	running.Wait()
	if err := p.Watch(near[0], In, Out); err == nil {
		t.Error("a closed poller watches")
	}
}

// TestOnlyWhatIsWatchedFor: readable or writable, each when it was asked for, and nothing that was removed.
func TestOnlyWhatIsWatchedFor(t *testing.T) {
	p, err := Open[string]()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var fds, far [3]int
	names := [3]string{"out", "none", "in"}
	for i := range fds {
		fds[i], far[i] = pair(t)
		p.Add(fds[i], &names[i])
	}
	told := make(chan string)
	go p.Run(func(ready []*string) {
		for _, name := range ready {
			for i := range names {
				if name == &names[i] {
					_ = p.Watch(fds[i], map[int]uint32{0: Out, 2: In}[i], 0)
				}
			}
			told <- *name
		}
	})
	send(t, far[1], "x")
	if err := p.Watch(fds[0], 0, Out); err != nil {
		t.Fatal(err)
	}
	if s := <-told; s != "out" {
		t.Errorf("%s is ready", s)
	}
	if err := p.Watch(fds[2], 0, In); err != nil {
		t.Fatal(err)
	}
	send(t, far[2], "x")
	if s := <-told; s != "in" {
		t.Errorf("%s is ready", s)
	}
	p.Remove(fds[1])
}
