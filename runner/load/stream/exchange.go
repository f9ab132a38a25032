package stream

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"assay/runner/record"
)

// Call is one request that is ready to be sent.
type Call struct {
	Index      int
	Warmup     bool
	Session    string
	Talk       int // number of the session: the sessions of a load are counted from 0
	Turn       int
	Body       Body
	Salt       string // put before the prompt, as the inside of a JSON string
	IntendedUS int64
	DueUS      int64          // when nothing but the client itself kept it from being sent
	WantReply  bool           // keep the answer's text for the next turn
	OnSend     func(us int64) // called with each instant of sending, right after it; may be nil
	OnToken    func()         // called at the first token event; may be nil
}

const (
	afterDone  = 100 * time.Millisecond // wait for the body's end once [DONE] was seen
	errorBytes = 500
)

// Exchange sends requests one after another and reads their streams. Its buffers are used again and again; it belongs
// to one goroutine.
type Exchange struct {
	*Client
	tokens atomic.Int64 // token events so far, for the live view
	reads  *shard

	conn   *conn
	reused bool        // conn carried a request before
	watch  func() bool // ends the watch of the context over conn
	resp   response
	sse    sse
	seen   sight
	halt   error // why the response is not read on
	marks  marks
	reply  []byte
	text   []byte // beginning of a body that is no event stream
}

// sight is what was seen of the current response.
type sight struct {
	call       *Call
	sentUS     int64
	readUS     int64 // arrival of the bytes being parsed
	inRead     int   // token events in them
	firstUS    int64
	bytes      int64
	shared     int
	told       bool // the call knows of its first token
	done       bool // [DONE]
	broken     string
	failure    string
	id, finish string
	usage      bool
	output     int64
	input      int64
	cached     int64
	thought    int64 // reasoning tokens of the usage
	reasoned   bool  // an event brought reasoning
	continuous bool
	ids        int // of text-less events, carried to the next token event
	answer     int
}

// NewExchange makes an exchange for one goroutine.
func (c *Client) NewExchange() *Exchange {
	x := &Exchange{Client: c, reads: c.vitals.shard()}
	x.resp.body = x.body
	x.sse.emit = x.event
	return x
}

// Tokens counts the token events so far, for a live view.
func (x *Exchange) Tokens() int64 { return x.tokens.Load() }

// Do sends a call and waits for its end. reply is the answer's text when the call wanted it. When ctx ends, so does the
// request: as censored when the cause is ErrDrained, else as aborted, or as dropped when it was never sent.
func (x *Exchange) Do(ctx context.Context, c *Call) (r record.Request, reply string) {
	r = Blank(c)
	x.begin(c)
	end := x.connectAndSend(ctx, c, &r)
	if x.conn != nil {
		if end == nil {
			end = x.receive(ctx)
		}
		x.release(end)
	}
	x.fill(ctx, &r, end)
	return r, x.replyText()
}

// Blank is a request of which nothing is known yet.
func Blank(c *Call) record.Request {
	return record.Request{
		Index: c.Index, Warmup: c.Warmup, Session: c.Session, Turn: c.Turn, IntendedUS: c.IntendedUS,
		SentUS: record.Never, ConnectUS: record.Never, FirstByteUS: record.Never, DoneUS: record.Never,
		RetryAfterUS: record.Never, InputTokens: record.Never, OutputTokens: record.Never, CachedTokens: record.Never, FirstAnswer: -1,
	}
}

func (x *Exchange) begin(c *Call) {
	x.resp.reset()
	x.sse.reset()
	x.marks.reset()
	x.halt, x.reply, x.text = nil, kept(x.reply), x.text[:0]
	x.seen = sight{call: c, sentUS: record.Never, firstUS: record.Never, input: record.Never, cached: record.Never, answer: -1}
}

// connectAndSend sends on an idle connection, or on a new one when there is none. Only when an idle one turns out to be
// closed before a byte of the request went out, the request is sent once more.
func (x *Exchange) connectAndSend(ctx context.Context, c *Call, r *record.Request) error {
	message := x.message(c)
	if x.conn = x.pool.take(); x.conn != nil {
		n, err := x.send(ctx, message, r)
		x.reused = x.conn.used
		if err == nil || n > 0 || stopped(err) {
			x.countReuse()
			return answerable(n, err)
		}
		x.watch()
		x.conn.close()
		r.Retries++
	}
	x.reused = false
	var took int64
	var err error
	if x.conn, took, err = x.dialer.dial(ctx); err != nil {
		x.conn = nil
		return &dialError{err}
	}
	r.ConnectUS = took
	return answerable(x.send(ctx, message, r))
}

func (x *Exchange) countReuse() {
	if x.reused {
		x.vitals.reused.Add(1)
	}
}

// answerable hides a failure to send the whole request: a server may refuse a long one before it has read it all, and
// its answer then says why.
func answerable(n int, err error) error {
	if n > 0 && !stopped(err) {
		return nil
	}
	return err
}

// send sends the request. From here on, until release, the end of ctx interrupts whatever the connection waits for.
func (x *Exchange) send(ctx context.Context, message []byte, r *record.Request) (int, error) {
	x.watch = context.AfterFunc(ctx, interrupt(x.conn))
	x.seen.sentUS = x.clock.Now()
	x.seen.readUS = x.seen.sentUS
	r.SentUS = x.seen.sentUS
	n, err := x.write(ctx, message)
	if on := x.seen.call.OnSend; on != nil {
		on(r.SentUS) // not before: what it waits for would count as the server's time
	}
	return n, err
}

func (x *Exchange) write(ctx context.Context, message []byte) (int, error) {
	if err := x.arm(ctx); err != nil {
		return 0, err
	}
	n, err := x.conn.Write(message)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = x.expired(ctx)
	}
	return n, err
}

// interrupt wakes whoever reads or writes the connection.
func interrupt(c *conn) func() {
	return func() { _ = c.SetDeadline(time.Unix(1, 0)) }
}

// arm sets the deadline to the nearer of the stall limit and the time limit. An interrupt that came before is seen here,
// one that comes after replaces the deadline.
func (x *Exchange) arm(ctx context.Context) error {
	wait := time.Duration(1<<62 - 1)
	now := x.clock.Now()
	if x.stall > 0 {
		wait = x.stall - us(now-x.seen.readUS)
	}
	if x.timeout > 0 {
		wait = min(wait, x.timeout-us(now-x.seen.sentUS))
	}
	if x.seen.done {
		wait = min(wait, afterDone)
	}
	deadline := time.Time{}
	if wait < 1<<62-1 {
		deadline = time.Now().Add(wait)
	}
	if err := x.conn.SetDeadline(deadline); err != nil {
		return err
	}
	return ctx.Err()
}

func us(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// receive reads until the response ends. It gives nil for a response that is complete, or complete but for its framing
// after [DONE].
func (x *Exchange) receive(ctx context.Context) error {
	armed := false // the shorter limit after [DONE] is set
	for x.resp.state != ended {
		if x.seen.done && !armed {
			if armed = true; x.arm(ctx) != nil {
				return ctx.Err()
			}
		}
		err := x.conn.read(x)
		x.tell()
		if x.halt != nil {
			return x.halt
		}
		if err == nil || x.resp.state == ended {
			continue
		}
		if again, end := x.failed(ctx, err); !again {
			return end
		}
	}
	return nil
}

// arrived takes what a read brought and says whether there is to be more.
func (x *Exchange) arrived(a arrival) bool {
	x.reads.read(len(a.bytes), a.lateUS)
	x.halt = x.take(a.bytes, a.atUS)
	return x.halt == nil && x.resp.state != ended && !x.seen.done && !x.untold()
}

// untold says that the first token event has come and the call was not told.
func (x *Exchange) untold() bool {
	return x.marks.n > 0 && x.seen.call.OnToken != nil && !x.seen.told
}

// tell tells the call of its first token event. It is done here and not where that is parsed: others may wait for their turn there.
func (x *Exchange) tell() {
	if x.untold() {
		x.seen.told = true
		x.seen.call.OnToken()
	}
}

// take parses bytes that arrived at an instant.
func (x *Exchange) take(b []byte, atUS int64) error {
	if x.seen.bytes == 0 {
		x.seen.firstUS = atUS
	}
	x.seen.bytes += int64(len(b))
	if atUS != x.seen.readUS { // what the kernel stamped as one has arrived as one, however many reads it takes
		x.seen.inRead = 0
	}
	x.seen.readUS = atUS
	if err := x.resp.feed(b); err != nil {
		return err
	}
	if x.sse.tooLong {
		return errTooLong
	}
	return nil
}

// failed judges a read that brought nothing: again when a deadline was only a reminder to look at the limits.
func (x *Exchange) failed(ctx context.Context, err error) (again bool, end error) {
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case errors.Is(err, io.EOF) && x.resp.state == inRest, x.seen.done:
		x.resp.reusable = false
		return false, nil
	case !errors.Is(err, os.ErrDeadlineExceeded):
		return false, err
	}
	if end := x.expired(ctx); end != nil {
		return false, end
	}
	end = x.arm(ctx)
	return end == nil, end
}

// expired says which limit has passed; nil when none has.
func (x *Exchange) expired(ctx context.Context) error {
	now := x.clock.Now()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case x.timeout > 0 && us(now-x.seen.sentUS) >= x.timeout:
		return errTimeout
	case x.stall > 0 && us(now-x.seen.readUS) >= x.stall:
		return errStalled
	}
	return nil
}

// release gives the connection back when it is at a clean end, else closes it.
func (x *Exchange) release(end error) {
	c := x.conn
	x.conn = nil
	x.watch()
	if !c.kernel() {
		x.userStamps.Store(true)
	}
	if x.reused && x.seen.bytes == 0 && end != nil && !stopped(end) {
		x.pool.stop()
	}
	if end != nil || x.resp.state != ended || !x.resp.reusable || c.SetDeadline(time.Time{}) != nil {
		c.close()
		return
	}
	c.idle, c.used = x.resp.idle, true
	x.pool.give(c)
}

// body takes the bytes of the response's body.
func (x *Exchange) body(b []byte) {
	if x.resp.status == 200 && x.resp.stream {
		x.sse.feed(b)
		return
	}
	if room := 4*errorBytes - len(x.text); room > 0 {
		x.text = append(x.text, b[:min(room, len(b))]...)
	}
}

// fill completes the record of a request that ended.
func (x *Exchange) fill(ctx context.Context, r *record.Request, end error) {
	s := &x.seen
	r.DoneUS = x.clock.Now()
	if end == nil {
		r.DoneUS = max(s.readUS, r.SentUS)
	}
	r.FirstByteUS, r.BytesIn, r.SharedReads = s.firstUS, s.bytes, s.shared
	r.ID, r.FinishReason, r.Status = x.hide(s.id), x.hide(s.finish), x.resp.status
	r.InputTokens, r.CachedTokens, r.FirstAnswer = s.input, s.cached, s.answer
	r.ReasoningTokens = s.thought
	if s.usage {
		r.OutputTokens = s.output
	}
	r.Events, r.TokenSource = weigh(&x.marks, r.OutputTokens, s.continuous, s.hidden())
	if r.OutputTokens == record.Never && len(r.Events) > 0 {
		r.OutputTokens = total(r.Events)
	}
	if x.resp.retry > 0 {
		r.RetryAfterUS = x.resp.retry.Microseconds()
	}
	r.Outcome, r.Error = x.outcome(ctx, end)
	r.Error = cut(x.hide(r.Error))
}

// cut shortens a text to what a record keeps, at a whole character.
func cut(s string) string {
	if len(s) > errorBytes {
		s = s[:errorBytes]
	}
	return strings.ToValidUTF8(s, "")
}
