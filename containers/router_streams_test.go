package containers

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/containers/imagetest"
	"assay/containers/instancetest"
	"assay/containers/process"
	"assay/containers/router"
	"assay/fault"
	"assay/plan"
)

// What the published open loop has in flight, and what is tried in any case.
const (
	manyStreams = 10800
	someStreams = 2000
)

// holdStreams is a server that streams an event to each that asks and holds all streams until somebody asks for /go. It is a process of its own,
// with files of its own.
func holdStreams() int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("http://" + l.Addr().String())
	let := make(chan struct{})
	for {
		c, err := l.Accept()
		if err != nil {
			fmt.Println(err)
			return 1
		}
		go hold(c, let)
	}
}

func hold(c net.Conn, let chan struct{}) {
	defer c.Close()
	req, err := http.ReadRequest(bufio.NewReaderSize(c, 1024))
	if err != nil {
		return
	}
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
	switch req.URL.Path {
	case "/go":
		close(let)
		fmt.Fprint(c, head)
	case "/up":
		fmt.Fprint(c, head)
	default:
		fmt.Fprint(c, head, "data: first\n\n")
		<-let
		fmt.Fprint(c, "data: last\n\n")
	}
}

// startHolding starts such a server until the test ends.
func startHolding(t *testing.T) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), instancetest.ChildMode+"=hold")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(url)
}

// each does something for so many, a few at once, and joins what fails.
func each(n int, do func(i int) error) error {
	failed := make([]error, n)
	slots := make(chan struct{}, 64)
	var all sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			failed[i] = do(i)
		})
	}
	all.Wait()
	for i, err := range failed {
		if err != nil {
			return fmt.Errorf("%d of %d: %w", i, n, err)
		}
	}
	return nil
}

// readTo reads a stream until a text has come.
func readTo(c net.Conn, text string) error {
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	var seen []byte
	b := make([]byte, 512)
	for !bytes.Contains(seen, []byte(text)) {
		n, err := c.Read(b)
		if seen = append(seen, b[:n]...); err != nil {
			return fmt.Errorf("%w after %q", err, seen)
		}
	}
	return nil
}

// streamsAtOnce opens n streams through a router, has an event on each, and lets the server end them once all are open.
func streamsAtOnce(t *testing.T, by, server string, n int) {
	t.Helper()
	conns := make([]net.Conn, n)
	t.Cleanup(func() {
		for _, c := range conns {
			if c != nil {
				c.Close()
			}
		}
	})
	address := strings.TrimPrefix(by, "http://")
	begun := time.Now()
	err := each(n, func(i int) (err error) {
		if conns[i], err = net.Dial("tcp", address); err != nil {
			return err
		}
		_ = conns[i].(*net.TCPConn).SetLinger(0)
		if _, err := fmt.Fprintf(conns[i], "GET /stream HTTP/1.1\r\nHost: router\r\nX-Session-ID: session-%d\r\n\r\n", i); err != nil {
			return err
		}
		return readTo(conns[i], "data: first\n\n")
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d streams are open after %s", n, time.Since(begun).Round(time.Millisecond))
	resp, err := http.Get(server + "/go")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if err := each(n, func(i int) error { return readTo(conns[i], "data: last\n\n") }); err != nil {
		t.Error(err)
	}
}

// most is how many of 10,800 streams the limits of this machine let a router have: at least 2,000, or the test has no place here.
func most(t *testing.T, kind string) int {
	t.Helper()
	n := min(manyStreams, router.RaiseFiles(manyStreams+512)-512)
	for ; n >= someStreams; n -= 100 {
		if CheckRouter(plan.Router{Kind: kind}, nil, n) == nil {
			break
		}
	}
	if n < someStreams {
		imagetest.Missing(t, "open files for %d streams: ulimit -n", someStreams)
	}
	if n < manyStreams {
		t.Logf("%d streams in place of %d: %v", n, manyStreams, CheckRouter(plan.Router{Kind: kind}, nil, manyStreams))
	}
	return n
}

// TestRoutersHoldTheStreams: as many streams at once as the limits of this machine allow a router, up to 10,800.
func TestRoutersHoldTheStreams(t *testing.T) {
	for _, k := range withConfig() {
		t.Run(k.Name, func(t *testing.T) {
			needProgram(t, k.Name)
			n := most(t, k.Name)
			server := startHolding(t)
			opt := optionsOf(t)
			opt.Streams, opt.Reuse = n, false
			s, err := RouterSpec(plan.Router{Kind: k.Name}, []string{server}, opt)
			if err != nil {
				t.Fatal(err)
			}
			r := instancetest.Start(t, process.Runtime{}, s)
			instancetest.Await(t, "router", func() bool { return answers(r.BaseURLs()[0] + "/up") })
			streamsAtOnce(t, r.BaseURLs()[0], server, n)
		})
	}
}

// TestRoutersInDockerHoldTheStreams: the same in a container, which has its own limit of files.
func TestRoutersInDockerHoldTheStreams(t *testing.T) {
	imagetest.NeedDocker(t)
	for _, k := range withConfig() {
		t.Run(k.Name, func(t *testing.T) {
			server := startHolding(t)
			opt := optionsOf(t)
			opt.Streams, opt.Reuse = someStreams, false
			s, err := RouterSpec(plan.Router{Kind: k.Name, Image: imagetest.ProgramImage(t, k.Name)}, []string{server}, opt)
			if err != nil {
				t.Fatal(err)
			}
			s, _ = instancetest.Prepare(t, here(), s)
			r := instancetest.Start(t, here(), s)
			instancetest.Await(t, "router", func() bool { return answers(r.BaseURLs()[0] + "/up") })
			streamsAtOnce(t, r.BaseURLs()[0], server, someStreams)
		})
	}
}

func answers(url string) bool {
	resp, err := http.Get(url)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode == http.StatusOK
}

// TestTooFewFiles: what a router needs is named with its number.
func TestTooFewFiles(t *testing.T) {
	var f *fault.Fault
	if err := CheckRouter(plan.Router{Kind: "haproxy"}, nil, 5_000_000); !errors.As(err, &f) || !strings.Contains(f.Text, "needs 11000384 open files for 5000000 requests") || !strings.Contains(f.Hint, "ulimit -Hn") {
		t.Errorf("%v", err)
	}
}

// TestIdleConnectionsToServers: a router closes a connection that it has no use for before engines do, after 5 s. The oldest counts, since HAProxy
// closes them by and by; of the best try, since a busy machine closes them late.
func TestIdleConnectionsToServers(t *testing.T) {
	for _, k := range withConfig() {
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			needProgram(t, k.Name)
			srv := newIdleServer(t)
			s, err := RouterSpec(plan.Router{Kind: k.Name}, []string{srv.url}, optionsOf(t))
			if err != nil {
				t.Fatal(err)
			}
			r := instancetest.Start(t, process.Runtime{}, s)
			instancetest.Await(t, "router", func() bool { return answers(r.BaseURLs()[0] + "/up") })
			var oldest time.Duration
			for range 5 {
				if oldest = srv.oldest(t, r.BaseURLs()[0]); oldest < 5*time.Second {
					return
				}
			}
			t.Errorf("a connection was idle for %s", oldest)
		})
	}
}

// idleServer never closes a connection, and knows for how long each was idle when the other side did.
type idleServer struct {
	url     string
	arrived sync.WaitGroup // of the requests that are to come together

	mu   sync.Mutex
	idle map[net.Conn]time.Time // since when
	ages []time.Duration        // of those that were closed
}

func newIdleServer(t *testing.T) *idleServer {
	t.Helper()
	s := &idleServer{idle: map[net.Conn]time.Time{}}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/together" {
			s.arrived.Done()
			s.arrived.Wait() // so that each has a connection of its own
		}
	}))
	srv.Config.ConnState = func(c net.Conn, state http.ConnState) {
		s.mu.Lock()
		defer s.mu.Unlock()
		switch since, was := s.idle[c]; {
		case state == http.StateIdle:
			s.idle[c] = time.Now()
		case state == http.StateClosed && was:
			s.ages = append(s.ages, time.Since(since))
			delete(s.idle, c)
		}
	}
	srv.Start()
	t.Cleanup(srv.Close)
	s.url = srv.URL
	return s
}

// oldest makes a router open many connections, waits until it has closed all, and gives the longest time that one was idle.
func (s *idleServer) oldest(t *testing.T, router string) time.Duration {
	t.Helper()
	const n = 32
	s.mu.Lock()
	s.ages = nil
	s.mu.Unlock()
	s.arrived.Add(n)
	if err := each(n, func(int) error {
		resp, err := http.Get(router + "/together")
		if err != nil {
			return err
		}
		return resp.Body.Close()
	}); err != nil {
		t.Fatal(err)
	}
	instancetest.Await(t, "end of the connections", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.idle) == 0 && len(s.ages) >= n
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Max(s.ages)
}
