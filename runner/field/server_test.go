package field

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// server is a scripted engine on a loopback port. A script answers each request with the bytes and at the instants it
// likes; what the server saw and sent, it logs.
type server struct {
	url    string
	usage  string       // continuous (where the client asks for it) | final | none; a script's helpers follow it
	ids    bool         // events tell token ids
	script func(*reply) // of the load's requests
	probe  func(*reply) // of the client's probe; nil gives good answers
	down   chan struct{}

	mu       sync.Mutex
	listener net.Listener
	open     map[net.Conn]bool
	replies  []*reply // in order of arrival, without the probe's
	probes   []*reply
	others   []string // paths of other requests
	conns    int
	inFlight int
	peak     int
}

// reply is one request and what was answered.
type reply struct {
	server  *server
	c       net.Conn
	n       int // order of arrival among the load's requests
	conn    int // number of its connection
	header  http.Header
	path    string
	raw     []byte
	body    map[string]any
	arrived time.Time
	marks   []mark // token events, each before its write
	tokens  int
	ended   time.Time // before the last write of a complete answer
	leave   func()    // it is in flight no more
}

type mark struct {
	at     time.Time
	tokens int
}

func newServer(t testing.TB, script func(*reply)) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{
		url: "http://" + l.Addr().String(), usage: "continuous", script: script, down: make(chan struct{}),
		listener: l, open: map[net.Conn]bool{},
	}
	t.Cleanup(func() {
		close(s.down)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.listener.Close()
	})
	go s.accept(l)
	return s
}

// refusing gives the URL of a port where nobody listens. It is this side's of a connection, which nobody else gets while the test lasts.
func refusing(t *testing.T) string {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(newServer(t, nil).url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return "http://" + c.LocalAddr().String()
}

// restart resets all connections, lets the port be closed for a while, and listens again.
func (s *server) restart(t testing.TB, closed time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listener.Close()
	for c := range s.open {
		c.(*net.TCPConn).SetLinger(0)
		c.Close()
	}
	select {
	case <-time.After(closed):
	case <-s.down:
		return
	}
	l, err := net.Listen("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Error(err)
		return
	}
	s.listener = l
	go s.accept(l)
}

func (s *server) accept(l net.Listener) {
	for n := 0; ; n++ {
		c, err := l.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns++
		s.open[c] = true
		s.mu.Unlock()
		go s.serve(n, c)
	}
}

// serve answers the requests of one connection until it closes.
func (s *server) serve(conn int, c net.Conn) {
	defer s.gone(c)
	in := bufio.NewReader(c)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		a := &reply{server: s, c: c, conn: conn, header: r.Header, path: r.URL.Path, raw: raw, arrived: time.Now()}
		if json.Unmarshal(raw, &a.body) != nil {
			a.status(400, "", "no JSON")
			continue
		}
		if !strings.HasSuffix(a.path, "/completions") {
			s.mu.Lock()
			s.others = append(s.others, a.path)
			s.mu.Unlock()
			a.status(404, "", "")
			continue
		}
		if a.header.Get("X-Session-ID") == "probe" {
			s.mu.Lock()
			s.probes = append(s.probes, a)
			s.mu.Unlock()
			if s.probe != nil {
				s.probe(a)
			} else {
				a.good(1)
			}
			continue
		}
		s.log(a)
		s.script(a)
		a.leave()
	}
}

func (s *server) gone(c net.Conn) {
	c.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c)
}

func (s *server) log(a *reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a.n = len(s.replies)
	s.replies = append(s.replies, a)
	s.inFlight++
	s.peak = max(s.peak, s.inFlight)
	a.leave = sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.inFlight--
	})
}

// seen gives the load's requests in order of arrival.
func (s *server) seen() []*reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*reply(nil), s.replies...)
}

// write hands bytes to the kernel; a client that is gone is no matter here.
func (a *reply) write(b string) { io.WriteString(a.c, b) }

const eventStream = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"

// head begins an event stream in chunked framing.
func (a *reply) head() { a.write(eventStream + "Transfer-Encoding: chunked\r\n\r\n") }

// chunk writes bytes of the body.
func (a *reply) chunk(b string) { a.write(fmt.Sprintf("%x\r\n%s\r\n", len(b), b)) }

// event writes one server-sent event.
func (a *reply) event(data string) { a.chunk("data: " + data + "\n\n") }

// role is chat's first event, which brings no token.
func (a *reply) role() {
	a.event(`{"id":"` + a.id() + `","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]` + a.running() + `}`)
}

// delta writes an event that brings n tokens in a member of the delta.
func (a *reply) delta(member, text string, n int) {
	quoted, _ := json.Marshal(text)
	a.choice(fmt.Sprintf(`"delta":{%q:%s}`, member, quoted), n)
}

// choice writes an event that brings n tokens, whatever its choice holds.
func (a *reply) choice(inside string, n int) {
	a.tokens += n
	if a.server.ids {
		inside += `,"token_ids":[` + strings.TrimSuffix(strings.Repeat("7,", n), ",") + `]`
	}
	data := `{"id":"` + a.id() + `","choices":[{"index":0,` + inside + `,"finish_reason":null}]` + a.running() + `}`
	a.marks = append(a.marks, mark{time.Now(), n})
	a.event(data)
}

// token writes an event that brings n tokens as content.
func (a *reply) token(n int) { a.delta("content", strings.Repeat(" t", n), n) }

// running is the usage so far, where client and server have it.
func (a *reply) running() string {
	options, _ := a.body["stream_options"].(map[string]any)
	if a.server.usage == "continuous" && options["continuous_usage_stats"] == true {
		return "," + a.used(a.tokens)
	}
	return ""
}

// Every prompt has 11 tokens by the server's count.
const promptTokens = 11

func (a *reply) used(n int) string {
	return fmt.Sprintf(`"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`, promptTokens, n, promptTokens+n)
}

func (a *reply) finish(reason string) {
	a.event(fmt.Sprintf(`{"choices":[{"index":0,"delta":{},"finish_reason":%q}]%s}`, reason, a.running()))
}

// final writes the usage event, which has no choices.
func (a *reply) final() {
	if a.server.usage != "none" {
		a.event(`{"choices":[],` + a.used(a.tokens) + `}`)
	}
}

// end closes a complete stream, in one write: a client that waits too long for the end of the body gives its connection up.
func (a *reply) end() {
	a.ended = time.Now()
	a.write(fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(doneLine), doneLine))
}

// close is all that follows the last token of a good stream.
func (a *reply) close(reason string) {
	a.finish(reason)
	a.final()
	a.end()
}

// good is a whole answer of n tokens, one an event.
func (a *reply) good(n int) {
	a.head()
	a.role()
	for range n {
		a.token(1)
	}
	a.close("stop")
}

// paced is a good answer whose events come at a distance.
func (a *reply) paced(n int, first, gap time.Duration) {
	a.head()
	a.role()
	a.wait(first)
	for i := range n {
		if i > 0 {
			a.wait(gap)
		}
		a.token(1)
	}
	a.close("length")
}

// wait paces the server; it ends early with the test.
func (a *reply) wait(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-a.server.down:
	}
}

// until waits for a channel; it ends early with the test.
func (a *reply) until(ch <-chan struct{}) {
	select {
	case <-ch:
	case <-a.server.down:
	}
}

// status answers with a status and no stream.
func (a *reply) status(code int, headers, body string) {
	a.write(fmt.Sprintf("HTTP/1.1 %d x\r\n%sContent-Length: %d\r\n\r\n%s", code, headers, len(body), body))
	a.ended = time.Now()
}

// hangUp closes the connection. It is counted before: the client may be back, on another one, before this goroutine goes on.
func (a *reply) hangUp() {
	a.leave()
	a.c.Close()
}

// reset breaks the connection so that the client gets RST.
func (a *reply) reset() {
	a.c.(*net.TCPConn).SetLinger(0)
	a.c.Close()
}

// prompt is the text of the last message, or the prompt.
func (a *reply) prompt() string {
	if p, ok := a.body["prompt"].(string); ok {
		return p
	}
	messages, _ := a.body["messages"].([]any)
	if len(messages) == 0 {
		return ""
	}
	last, _ := messages[len(messages)-1].(map[string]any)
	text, _ := last["content"].(string)
	return text
}

// id is what the server calls the answer.
func (a *reply) id() string { return fmt.Sprint("r", a.n) }
