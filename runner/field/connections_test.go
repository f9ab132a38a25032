package field

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"assay/runner/record"
)

// Sockets, bytes and lines: rows about how the client reads, and over which connections.

// gate opens when a number of requests have arrived.
type gate struct {
	mu   sync.Mutex
	left int
	open chan struct{}
}

func newGate(n int) *gate { return &gate{left: n, open: make(chan struct{})} }

func (g *gate) arrive() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.left--; g.left == 0 {
		close(g.open)
	}
}

// A client that stopped reading at 64 KB of its buffer made a server look ten times slower at 50k-token prompts → long
// prompts go out whole, and a stream is read whatever the others hold: every answer waits for the other streams' bytes.
func TestField_vllm39963_LongPromptsAndNeverAStoppedRead(t *testing.T) {
	t.Parallel()
	const streams, events = 8, 64
	all := newGate(streams)
	long := `{"choices":[{"index":0,"delta":{"content":"` + strings.Repeat("x", 32<<10) + `"},"finish_reason":null}]}`
	s := newServer(t, func(a *reply) {
		a.head()
		for range events { // 2 MB, more than the sockets' buffers hold
			a.tokens++
			a.event(long)
		}
		all.arrive()
		a.until(all.open)
		a.close("stop")
	})
	s.usage = "final"
	m := sweep(t, s, streams, streams, func(j *job) { j.Plan.Workload.InputLen = 50_000 })
	for i, r := range m.all {
		if r.Outcome != record.OK || len(r.Events) != events || r.BytesIn < events*32<<10 {
			t.Errorf("%s %q, %d events, %d bytes", r.Outcome, r.Error, len(r.Events), r.BytesIn)
		}
		if n := len(s.seen()[i].prompt()); n < 100_000 {
			t.Errorf("the prompt came with %d bytes", n)
		}
	}
}

// Readers with a limit of 64 or 128 KB a line failed on long lines → lines of any length, split at odd places; and while
// one stream's line is on its way, the others go on.
func TestField_tensorrtllm13952_LongLines(t *testing.T) {
	t.Parallel()
	for _, size := range []int{65_530, 1 << 20, 10 << 20} {
		others := newGate(6)
		s := newServer(t, func(a *reply) {
			if a.n > 0 {
				a.good(3)
				others.arrive()
				return
			}
			a.tokens = 3
			event := `data: {"choices":[{"index":0,"delta":{"content":"` + strings.Repeat("é", size/2) + `"},"finish_reason":null}],` + a.used(3) + "}\n\n"
			a.head()
			a.chunk(event[:size/3+1]) // inside a character when the offset is odd
			a.until(others.open)
			for rest := event[size/3+1:]; rest != ""; {
				n := min(len(rest), 65_537)
				a.chunk(rest[:n])
				rest = rest[n:]
			}
			a.close("stop")
		})
		m := sweep(t, s, 2, 7)
		for _, r := range m.all {
			if r.Outcome != record.OK || r.OutputTokens != 3 {
				t.Errorf("%d bytes: %s %q, %d tokens", size, r.Outcome, r.Error, r.OutputTokens)
			}
		}
	}
}

// held runs as many streams as asked, none of which ends before all are there.
func held(t *testing.T, c int, edits ...edit) (measured, *server) {
	t.Helper()
	all := newGate(c)
	s := newServer(t, func(a *reply) {
		a.head()
		a.role()
		all.arrive()
		a.until(all.open)
		a.token(1)
		a.close("stop")
	})
	m := sweep(t, s, c, c, edits...)
	if s.peak != c || m.outcomes()[record.OK] != len(m.all) {
		t.Errorf("%d streams at once of %d; %v", s.peak, c, m.outcomes())
	}
	return m, s
}

// Clients stuck at 100 streams, the default size of their HTTP pools → as many connections as streams, or not begun.
func TestField_guidellm487_vllm7241_PoolHoldsEveryStream(t *testing.T) {
	t.Parallel()
	held(t, 300)
}

// A pool sized by all sockets of the machine shrank when others held some → only one's own connections count.
func TestField_mlperfPR386_ForeignSocketsDoNotCount(t *testing.T) {
	t.Parallel()
	foreign := newServer(t, func(*reply) {})
	for range 150 {
		c, err := net.Dial("tcp", strings.TrimPrefix(foreign.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
	}
	held(t, 120)
}

// TCP keep-alive probes killed healthy sockets under load → the client's sockets have none; FIN, RST and limits do.
func TestField_mlperfE202_NoKeepAliveProbes(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the timers of sockets are read from /proc")
	}
	var kinds []string
	s := newServer(t, nil)
	s.script = func(a *reply) {
		a.head()
		a.token(1)
		kinds = append(kinds, timer(t, a.c)...)
		a.close("stop")
	}
	sweep(t, s, 1, 2)
	if len(kinds) == 0 {
		t.Fatal("the client's socket was not found")
	}
	for _, k := range kinds {
		if k == "02" {
			t.Error("the client's socket has a keep-alive timer")
		}
	}
}

// timer gives the kind of timer that is set on the other side of a loopback connection, as /proc/net/tcp names it.
func timer(t *testing.T, c net.Conn) []string {
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		t.Error(err)
		return nil
	}
	end := func(a net.Addr) string { return fmt.Sprintf("0100007F:%04X", a.(*net.TCPAddr).Port) }
	var kinds []string
	for _, line := range strings.Split(string(table), "\n") {
		f := strings.Fields(line)
		if len(f) > 5 && f[1] == end(c.RemoteAddr()) && f[2] == end(c.LocalAddr()) {
			kinds = append(kinds, f[5][:2])
		}
	}
	return kinds
}

// Bursts at start and ports in TIME_WAIT gave EADDRNOTAVAIL → connections are used again: no more of them than streams.
func TestField_mlperfE418_ConnectionsAreUsedAgain(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) { a.good(2) })
	m := sweep(t, s, 4, 200)
	reused := 0
	for _, r := range m.all {
		if r.ConnectUS == record.Never {
			reused++
		}
	}
	if s.conns > 2*4+1 || reused < 190 {
		t.Errorf("%d connections for 200 requests of 4 slots; %d requests opened none", s.conns, reused)
	}
}

// Thousands of connects at once were reset, and blind retries sent requests twice → nothing is sent twice once a byte of
// it went out: the server sees each request once, and a reset is a reset.
func TestField_vllm2060_NothingIsSentTwice(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) {
		if a.n%3 == 2 {
			a.reset()
			return
		}
		a.good(2)
	})
	m := sweep(t, s, 8, 30)
	prompts := map[string]int{}
	for _, a := range s.seen() {
		if prompts[a.prompt()]++; prompts[a.prompt()] > 1 {
			t.Errorf("a prompt came twice: %.40q", a.prompt())
		}
	}
	seen, resets := len(s.seen()), 0
	for n := range s.seen() {
		if n%3 == 2 {
			resets++
		}
	}
	if n := m.outcomes(); seen != len(m.all) || n[record.Reset] != resets || n[record.OK] != seen-resets {
		t.Errorf("the server saw %d requests and reset %d; recorded are %d: %v", seen, resets, len(m.all), n)
	}
	if m.Client.Retries != 0 {
		t.Errorf("%d retries", m.Client.Retries)
	}
}

// Servers that close idle sockets made every first request a connection error → an idle connection is looked at before
// use; what broke before a byte went out goes over a new one, and is counted.
func TestField_mlperfPR314_IdleSocketsThatWereClosed(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) {
		a.good(2)
		a.c.Close() // without having said so
	})
	m := sweep(t, s, 4, 40)
	n := m.outcomes()
	if n[record.OK]+n[record.Reset] != len(m.all) || n[record.Reset] > 4 || len(s.seen()) != len(m.all)-n[record.Reset] {
		t.Errorf("%v of %d, the server saw %d", n, len(m.all), len(s.seen()))
	}
}

// Half-closed connections of aborted streams made the next cell's requests hang → a connection whose stream was cut off is
// never used again.
func TestField_llminferencebench422414b_CutStreamsGiveNoConnectionBack(t *testing.T) {
	t.Parallel()
	var after atomic.Int32 // requests on a connection after one that was never answered to its end
	broken := make(map[int]bool)
	var mu sync.Mutex
	s := newServer(t, func(a *reply) {
		mu.Lock()
		if broken[a.conn] {
			after.Add(1)
		}
		silent := a.n%4 == 3
		broken[a.conn] = broken[a.conn] || silent
		mu.Unlock()
		if !silent {
			a.good(1)
			return
		}
		a.head()
		a.token(1)
	})
	m := sweep(t, s, 2, 12, func(j *job) { j.Plan.Client.StallTimeout = ms(1500) })
	if n := m.outcomes(); after.Load() != 0 || n[record.Stalled] < 2 || n[record.OK]+n[record.Stalled] != len(m.all) {
		t.Errorf("%d requests came over the connection of a stream that was cut off; %v", after.Load(), n)
	}
}

// Other spellings of one address were counted as other servers → they are one target.
func TestField_mlperfPR371_SpellingsOfOneAddress(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) { a.good(1) })
	for _, tail := range []string{"", "/", "/v1", "/v1/", "/v1/chat/completions"} {
		sweep(t, s, 1, 1, func(j *job) { j.BaseURLs = []string{j.BaseURLs[0] + tail} })
	}
	for _, a := range s.seen() {
		if a.path != "/v1/chat/completions" {
			t.Errorf("asked at %s", a.path)
		}
	}
	if n := len(s.seen()); n != 5 {
		t.Errorf("%d requests, want 5", n)
	}
}

// Workers bound to one of several servers gave some of them more, or all to the first, and fewer workers than servers were
// refused → requests go round by one counter: the servers' shares differ by one at most, at any concurrency, and a sticky load
// keeps a session on one server.
func TestField_mlperfPR430_PR458_ServersShareEvenly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		slots  int
		sticky bool
	}{{1, false}, {8, false}, {2, true}} {
		var servers []*server
		var urls []string
		for range 3 {
			s := newServer(t, func(a *reply) { a.good(1) })
			servers, urls = append(servers, s), append(urls, s.url)
		}
		edits := []edit{func(j *job) { j.BaseURLs = urls }}
		if c.sticky {
			edits = append(edits, file(t, "agentic", conversations()), func(j *job) { j.Plan.Client.Balance = "sticky" })
		}
		m := sweep(t, servers[0], c.slots, 36, edits...)
		least, most, homes := len(m.all), 0, map[string]int{}
		for i, s := range servers {
			n := len(s.seen()) + len(s.probes)
			least, most = min(least, n), max(most, n)
			for _, a := range s.seen() {
				session := a.header.Get("X-Session-ID")
				if home, known := homes[session]; known && home != i {
					t.Errorf("session %s came to two servers", session)
				}
				homes[session] = i
			}
		}
		slack := 1
		if c.sticky {
			slack = 3 + c.slots // a conversation of three turns more, and those that were begun and not ended
		}
		if most-least > slack || m.outcomes()[record.OK] != len(m.all) {
			t.Errorf("%d slots, sticky %t: %d to %d requests a server; %v", c.slots, c.sticky, least, most, m.outcomes())
		}
	}
}
