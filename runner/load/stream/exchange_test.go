package stream

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/runner/dataset"
	"assay/runner/load/dialect"
	"assay/runner/record"
)

// serve accepts connections and lets script answer each request of each connection; script is told the number of the
// connection. It gives the base URL.
func serve(t testing.TB, script func(n int, c net.Conn, r *http.Request)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go converse(n, c, script)
		}
	}()
	return "http://" + l.Addr().String()
}

func converse(n int, c net.Conn, script func(n int, c net.Conn, r *http.Request)) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		script(n, c, r)
	}
}

// say answers with fixed bytes and, unless they frame their own end, closes the connection.
func say(raw string) func(int, net.Conn, *http.Request) {
	return func(_ int, c net.Conn, _ *http.Request) {
		io.WriteString(c, raw)
		c.Close()
	}
}

const (
	streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
	token      = `data: {"id":"x","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}` + "\n\n"
	finish     = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	finalUsage = `data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}` + "\n\n"
	doneEvent  = "data: [DONE]\n\n"
)

// setup is what a test sends, and how.
type setup struct {
	Options
	Request dialect.Request
}

func (s setup) client() *Client {
	s.Endpoint = s.Request.Endpoint
	return NewClient(s.Options)
}

func config(t testing.TB, url string) setup {
	t.Helper()
	target, err := ParseTarget(url)
	if err != nil {
		t.Fatal(err)
	}
	return setup{Options{Target: target, Clock: NewClock(), Stall: time.Minute, Timeout: time.Minute}, dialect.Request{Endpoint: "chat", Model: "m", Dialect: "sim", MaxTokens: 4}}
}

func hello(t testing.TB, cfg setup) *Call {
	t.Helper()
	b, err := cfg.Request.Encode([]dataset.Message{{Role: "user", Content: "hi"}}, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return &Call{Body: b, Session: "s1", WantReply: true}
}

func ask(t testing.TB, cfg setup) (record.Request, string) {
	t.Helper()
	return cfg.client().NewExchange().Do(t.Context(), hello(t, cfg))
}

func TestOutcomes(t *testing.T) {
	frame := func(data string) string { return "data: " + data + "\n\n" }
	chunked := func(body string) string {
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(body), body)
	}
	cases := []struct {
		name, raw string
		want      record.Outcome
		events    int
		err       string
	}{
		{"ok", streamHead + token + token + finish + finalUsage + doneEvent, record.OK, 2, ""},
		{"finish without [DONE]", streamHead + token + finish, record.OK, 1, ""},
		{"[DONE] without finish", streamHead + token + doneEvent, record.OK, 1, ""},
		{"no event before [DONE]", streamHead + finish + finalUsage + doneEvent, record.OK, 0, ""},
		{"more behind [DONE]", streamHead + token + finish + doneEvent + token + frame(`{"error":"late"}`), record.OK, 1, ""},
		{"cut after [DONE]", chunked(token + doneEvent), record.OK, 1, ""},
		{"ended without both", chunked(token) + "0\r\n\r\n", record.Truncated, 1, "without a finish reason"},
		{"closed in a chunk", chunked(token), record.Truncated, 1, "middle"},
		{"closed in an event", streamHead + token + token[:30], record.Truncated, 1, ""},
		{"abort", streamHead + token + frame(`{"choices":[{"delta":{},"finish_reason":"abort"}]}`) + finalUsage + doneEvent, record.Aborted, 1, "aborted"},
		{"error and [DONE]", streamHead + token + frame(`{"error":{"message":"dead","code":500}}`) + doneEvent, record.ErrorFrame, 1, "dead"},
		{"error beside choices", streamHead + token + frame(`{"choices":[],"x":[1],"error":{"message":"late"}}`) + finish + doneEvent, record.ErrorFrame, 1, "late"},
		{"error event by name", streamHead + "event: error\n" + frame("out of memory") + doneEvent, record.ErrorFrame, 0, "out of memory"},
		{"error before any token", streamHead + frame(`{"error":"Unauthorized"}`), record.ErrorFrame, 0, "Unauthorized"},
		{"finish reason error", streamHead + token + frame(`{"choices":[{"delta":{},"finish_reason":"error"}]}`) + doneEvent, record.ErrorFrame, 1, ""},
		{"404", "HTTP/1.1 404 Not Found\r\nContent-Length: 44\r\n\r\n" + `{"error":{"message":"no model","code":"404"}}`[:44], record.HTTPStatus, 0, "HTTP 404"},
		{"429", "HTTP/1.1 429 Too Many\r\nRetry-After: 3\r\nContent-Length: 0\r\n\r\n", record.HTTPStatus, 0, "429"},
		{"500 as event stream", "HTTP/1.1 500 x\r\nContent-Type: text/event-stream\r\nContent-Length: 31\r\n\r\n" + `{"error":{"message":"no node"}}`, record.HTTPStatus, 0, "no node"},
		{"JSON instead of a stream", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}", record.BadResponse, 0, "no event stream"},
		{"compressed", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Type: text/event-stream\r\n\r\n\x1f\x8b\x08\n\n", record.BadResponse, 0, "encoded, which was not asked for: gzip"},
		{"not compressed", strings.Replace(streamHead, "\r\n\r\n", "\r\nContent-Encoding: identity\r\n\r\n", 1) + token + finish, record.OK, 1, ""},
		{"event that is no JSON", streamHead + frame("<html>") + token + finish + doneEvent, record.BadResponse, 1, "<html>"},
		{"not HTTP", "SSH-2.0-x\r\n\r\n", record.BadResponse, 0, "HTTP"},
		{"closed at once", "", record.Reset, 0, "before an answer"},
		{"closed in the head", "HTTP/1.1 200 OK\r\nConte", record.Reset, 0, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r, _ := ask(t, config(t, serve(t, say(c.raw))))
			if r.Outcome != c.want || len(r.Events) != c.events || !strings.Contains(r.Error, c.err) || (r.Error == "") != (c.want == record.OK) {
				t.Errorf("outcome %s, %d events, error %q", r.Outcome, len(r.Events), r.Error)
			}
			if r.SentUS < 0 || r.DoneUS < r.SentUS || r.ConnectUS < 0 {
				t.Errorf("sent %d, done %d, connect %d", r.SentUS, r.DoneUS, r.ConnectUS)
			}
		})
	}
}

// TestEveryByteApart sends a stream byte by byte in both framings; nothing may depend on how reads fall.
func TestEveryByteApart(t *testing.T) {
	body := strings.ReplaceAll(":ping\n\n"+token+"data: {\"choices\":[{\"delta\":\ndata: {\"reasoning_content\":\"é\"}}]}\n\n"+finish+finalUsage+doneEvent, "\n", "\r\n")
	for _, chunks := range []bool{false, true} {
		url := serve(t, func(_ int, c net.Conn, _ *http.Request) {
			c.(*net.TCPConn).SetNoDelay(true)
			head := streamHead
			if chunks {
				head = strings.Replace(head, "\r\n\r\n", "\r\nTransfer-Encoding: chunked\r\n\r\n", 1)
			}
			io.WriteString(c, head)
			for i := range len(body) {
				if chunks {
					io.WriteString(c, "1\r\n")
				}
				io.WriteString(c, body[i:i+1])
				if chunks {
					io.WriteString(c, "\r\n")
				}
			}
			if chunks {
				io.WriteString(c, "0\r\n\r\n")
			}
			c.Close()
		})
		r, reply := ask(t, config(t, url))
		if r.Outcome != record.OK || len(r.Events) != 2 || r.FirstAnswer != 0 || reply != "a" || r.OutputTokens != 2 || r.InputTokens != 3 || r.TokenSource != "estimated" || r.ID != "x" {
			t.Errorf("chunked %v: %+v, reply %q", chunks, r, reply)
		}
	}
}

// refusing gives the URL of a port where nobody listens. It is this side's of a connection, which nobody else gets while the test lasts.
func refusing(t *testing.T) string {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(serve(t, say("")), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return "http://" + c.LocalAddr().String()
}

func TestRefused(t *testing.T) {
	if r, _ := ask(t, config(t, refusing(t))); r.Outcome != record.Refused || r.SentUS != record.Never || r.Status != 0 {
		t.Errorf("%+v", r)
	}
}

func TestReset(t *testing.T) {
	url := serve(t, func(_ int, c net.Conn, _ *http.Request) {
		io.WriteString(c, streamHead+token)
		c.(*net.TCPConn).SetLinger(0)
		c.Close()
	})
	if r, _ := ask(t, config(t, url)); r.Outcome != record.Reset {
		t.Errorf("outcome %s: %s", r.Outcome, r.Error)
	}
}

func TestLimits(t *testing.T) {
	hang := make(chan struct{})
	t.Cleanup(func() { close(hang) })
	silent := serve(t, func(_ int, c net.Conn, _ *http.Request) {
		io.WriteString(c, streamHead+token)
		<-hang
	})
	busy := serve(t, func(_ int, c net.Conn, _ *http.Request) {
		io.WriteString(c, streamHead)
		for {
			select {
			case <-hang:
				return
			case <-time.After(5 * time.Millisecond):
				if _, err := io.WriteString(c, token); err != nil {
					return
				}
			}
		}
	})
	afterDone := serve(t, func(_ int, c net.Conn, _ *http.Request) {
		io.WriteString(c, streamHead+token+finish+doneEvent)
		<-hang
	})
	cases := []struct {
		name, url      string
		stall, timeout time.Duration
		want           record.Outcome
	}{
		// A busy machine's server may say its first word, or its next, late: limits that pass are long, and pass beside each other.
		{"stall", silent, 3 * time.Second, 0, record.Stalled},
		{"stall before the time limit", silent, 3 * time.Second, time.Minute, record.Stalled},
		{"time limit", silent, time.Minute, 3 * time.Second, record.Timeout},
		{"time limit of a stream that goes on", busy, 3 * time.Second, 4 * time.Second, record.Timeout},
		{"open after [DONE]", afterDone, time.Minute, time.Minute, record.OK},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg := config(t, c.url)
			cfg.Stall, cfg.Timeout = c.stall, c.timeout
			r, _ := ask(t, cfg)
			if r.Outcome != c.want || len(r.Events) == 0 {
				t.Errorf("outcome %s (%s), %d events", r.Outcome, r.Error, len(r.Events))
			}
		})
	}
}

func TestCancelled(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	url := serve(t, func(_ int, c net.Conn, _ *http.Request) {
		io.WriteString(c, streamHead+token)
		<-hang
	})
	for cause, want := range map[error]record.Outcome{ErrDrained: record.Censored, errors.New("ctrl-c"): record.Aborted} {
		cfg := config(t, url)
		ctx, cancel := context.WithCancelCause(t.Context())
		c := hello(t, cfg)
		c.OnToken = func() { cancel(cause) }
		if r, _ := cfg.client().NewExchange().Do(ctx, c); r.Outcome != want || len(r.Events) != 1 {
			t.Errorf("%v gives %s, %d events", cause, r.Outcome, len(r.Events))
		}
	}
	cfg := config(t, url)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("ctrl-c"))
	if r, _ := cfg.client().NewExchange().Do(ctx, hello(t, cfg)); r.Outcome != record.Dropped || r.SentUS != record.Never {
		t.Errorf("before it was sent: %s, sent %d", r.Outcome, r.SentUS)
	}
}

func TestTargetPrefix(t *testing.T) {
	for url, want := range map[string]string{
		"http://h:1": "", "http://h:1/v1/": "", "http://h:1/a/v1/chat/completions": "/a", "http://h:1/a b%0d%0aX: y/v1": "/a%20b%0D%0AX:%20y",
	} {
		if got, err := ParseTarget(url); err != nil || got.Prefix != want {
			t.Errorf("%s gives prefix %q, %v", url, got.Prefix, err)
		}
	}
}

// TestReuse looks at connections: one carries request after request; a closed one is noticed; only a request of which
// nothing was sent goes out again.
func TestReuse(t *testing.T) {
	whole := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: " + fmt.Sprint(len(token+finish)) + "\r\n\r\n" + token + finish
	var mu sync.Mutex
	var conns []int
	closing := make(chan struct{})
	url := serve(t, func(n int, c net.Conn, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		conns = append(conns, n)
		io.WriteString(c, whole)
		if len(conns) == 3 {
			c.Close()
			close(closing)
		}
	})
	cfg := config(t, url)
	x := cfg.client().NewExchange()
	for i := range 3 {
		r, _ := x.Do(t.Context(), hello(t, cfg))
		if r.Outcome != record.OK || (r.ConnectUS == record.Never) != (i > 0) {
			t.Fatalf("request %d: %s, connect %d", i, r.Outcome, r.ConnectUS)
		}
	}
	<-closing
	if r, _ := x.Do(t.Context(), hello(t, cfg)); r.Outcome != record.OK || r.ConnectUS == record.Never {
		t.Errorf("after the close: %s (%s), connect %d", r.Outcome, r.Error, r.ConnectUS)
	}
	mu.Lock()
	defer mu.Unlock()
	if diff := cmp.Diff([]int{0, 0, 0, 1}, conns); diff != "" {
		t.Error(diff)
	}
}

func TestRetryOnlyUnsent(t *testing.T) {
	url := serve(t, say(streamHead+token+finish+doneEvent))
	cfg := config(t, url)
	x := cfg.client().NewExchange()
	broken, _, err := x.dialer.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := hello(t, cfg)
	x.begin(c)
	broken.idle = idleLimit
	broken.link = unwritable{broken.link}
	x.pool.give(broken)
	if r, _ := x.Do(t.Context(), c); r.Outcome != record.OK || r.Retries != 1 {
		t.Errorf("%s (%s), %d retries", r.Outcome, r.Error, r.Retries)
	}
}

// unwritable is a connection that breaks before a byte is written.
type unwritable struct{ link }

func (unwritable) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestRequestOnTheWire(t *testing.T) {
	type seen struct {
		path, session, auth, extra string
		body                       string
	}
	got := make(chan seen, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got <- seen{r.URL.Path, r.Header.Get("X-Session-ID"), r.Header.Get("Authorization"), r.Header.Get("X-Extra"), string(b)}
	}))
	defer s.Close()
	temperature := 0.0
	cfg := config(t, s.URL+"/prefix/v1/completions")
	cfg.Token, cfg.Headers = "k\r\nX-Evil: 1", map[string]string{"X-Extra": "e"}
	cfg.Request = dialect.Request{Endpoint: "completions", Model: "m\"x", Dialect: "vllm", MaxTokens: 9, IgnoreEOS: true, Temperature: &temperature}
	c := hello(t, cfg)
	c.Session, c.Salt = "s\r\n1", `<\"é> `
	cfg.client().NewExchange().Do(t.Context(), c)
	want := seen{"/prefix/v1/completions", "s1", "Bearer kX-Evil: 1", "e", `{"model":"m\"x","prompt":"<\"é> hi","max_tokens":9,"min_tokens":9,"ignore_eos":true,"temperature":0,"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true}}`}
	if diff := cmp.Diff(want, <-got, cmp.AllowUnexported(seen{})); diff != "" {
		t.Error(diff)
	}
}

func TestTLSAndUnixSocket(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, token+finish+doneEvent)
	})
	secure := httptest.NewTLSServer(handler)
	defer secure.Close()
	cfg := config(t, secure.URL)
	if r, _ := ask(t, cfg); r.Outcome != record.Refused || !strings.Contains(r.Error, "certificate") {
		t.Errorf("an unknown certificate gives %s: %s", r.Outcome, r.Error)
	}
	cfg.Target.Insecure = true
	if r, _ := ask(t, cfg); r.Outcome != record.OK {
		t.Errorf("TLS: %s (%s)", r.Outcome, r.Error)
	}
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	local := &http.Server{Handler: handler}
	go local.Serve(l)
	defer local.Close()
	if r, _ := ask(t, config(t, "unix://"+path)); r.Outcome != record.OK {
		t.Errorf("unix socket: %s (%s)", r.Outcome, r.Error)
	}
}

// TestCaptures replays what real engines sent. The files are not part of the repository.
func TestCaptures(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "..", "shared", "fixtures", "engines")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no captures here: ", err)
	}
	cases := []struct {
		file   string
		want   record.Outcome
		output int64
		source string
	}{
		{"llama-chat-stream-usage.http", record.OK, 4, "estimated"},
		{"llama-chat-stream-eos.http", record.OK, 5, "estimated"},
		{"llama-completions-stream-usage.http", record.OK, 4, "estimated"},
		{"llama-completions-stream-nousage.http", record.OK, 4, "estimated"},
		{"llama-chat-stream-nousage.http", record.OK, 4, "estimated"}, // its timings tell the total
		{"llama-sse-ping-flag.http", record.OK, record.Never, ""},
		{"llama-err-ctx-chat-stream.http", record.HTTPStatus, record.Never, ""},
		{"vllm-chat-stream-contusage-tokids.http", record.OK, 4, "usage"},
		{"vllm-completions-stream-contusage-tokids.http", record.OK, 4, "usage"},
		{"vllm-completions-streaminterval4.http", record.OK, 10, "usage"},
		{"vllm-chat-stream-usage.http", record.OK, 4, "estimated"},
		{"vllm-chat-stream-nousage.http", record.OK, 4, "events"},
		{"vllm-enginecore-died-midstream.http", record.ErrorFrame, record.Never, ""},
		{"vllm-err-badmodel-stream.http", record.HTTPStatus, record.Never, ""},
		{"vllm-err-noauth.http", record.HTTPStatus, record.Never, ""},
		{"vllm-chat-nostream.http", record.BadResponse, record.Never, ""},
		{"sglang-router-err-ctx.http", record.HTTPStatus, record.Never, ""},
	}
	for _, c := range cases {
		t.Run(c.file, func(t *testing.T) {
			raw, err := os.ReadFile(filepath.Join(dir, c.file))
			if err != nil {
				t.Fatal(err)
			}
			r, _ := ask(t, config(t, serve(t, say(string(raw)))))
			if r.Outcome != c.want || c.output != record.Never && (r.OutputTokens != c.output || r.TokenSource != c.source || total(r.Events) != c.output) {
				t.Errorf("%s (%s), %d tokens from %q in %d events", r.Outcome, r.Error, r.OutputTokens, r.TokenSource, len(r.Events))
			}
		})
	}
}
