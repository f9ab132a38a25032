package sim

import (
	"context"
	"math"
	"net/http"
	"slices"
	"strconv"

	"assay/sim/wire"
)

// meet gives the request its faults: those of the server, and those in the name of its model.
func (x *exchange) meet(faults []Fault) {
	x.faults = faults
	now := x.server.clock.now()
	for _, f := range faults {
		if kind, _ := f.info(); kind.AtToken {
			x.pending = append(x.pending, f)
			continue
		}
		x.truth.Faults = append(x.truth.Faults, Struck{f.Kind, now})
	}
	if f, ok := x.fault(CloseIdle); ok && x.link != nil {
		x.link.closeAfter(f.Delay)
	}
}

func (x *exchange) fault(kind FaultKind) (Fault, bool) {
	for _, f := range x.faults {
		if f.Kind == kind {
			return f, true
		}
	}
	return Fault{}, false
}

func (x *exchange) has(kind FaultKind) bool {
	_, ok := x.fault(kind)
	return ok
}

// turnedAway is the error status that a fault asks for instead of an answer.
func (x *exchange) turnedAway() *apiError {
	if f, ok := x.fault(Reject); ok {
		x.retryAfter(f)
		return &apiError{Message: "Too many requests", Type: "RateLimitError", Code: http.StatusTooManyRequests}
	}
	if f, ok := x.fault(Status); ok {
		if f.Delay > 0 {
			x.retryAfter(f)
		}
		return &apiError{Message: "simulated failure: " + http.StatusText(f.Amount), Type: "InternalServerError", Code: f.Amount}
	}
	return nil
}

func (x *exchange) retryAfter(f Fault) {
	x.w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(f.Delay.Seconds()))))
}

// styleOf is how a request's events are written.
func styleOf(faults []Fault) wire.Style {
	var s wire.Style
	for _, f := range faults {
		switch f.Kind {
		case CR:
			s.LineEnd = "\r"
		case CRLF:
			s.LineEnd = "\r\n"
		case Tight:
			s.Tight = true
		case Comments:
			s.Comments = true
		case Fields:
			s.Fields = true
		case Lines:
			s.Lines = true
		case Pieces:
			s.Piece = f.Amount
		case MidCharacter:
			s.MidRune = true
		}
	}
	return s
}

// trip does the faults whose token is reached; the end one caused, or "" to go on.
func (x *exchange) trip(ctx context.Context) string {
	for i := 0; i < len(x.pending); {
		f := x.pending[i]
		if x.truth.OutputTokens < f.AtToken {
			i++
			continue
		}
		x.pending = slices.Delete(x.pending, i, i+1)
		x.truth.Faults = append(x.truth.Faults, Struck{f.Kind, x.server.clock.now()})
		if end := x.strike(ctx, f); end != "" {
			return end
		}
	}
	return ""
}

// strike does a fault of a stream.
func (x *exchange) strike(ctx context.Context, f Fault) string {
	switch f.Kind {
	case Stall:
		return goneUnless(wait(ctx, f.Delay))
	case Ping:
		return goneUnless(x.ping(ctx, f))
	case Garbage:
		x.out = x.style.Append(x.out, []byte(`{"id":"`+x.truth.ID+`","choices":[{`))
		return goneUnless(x.flush())
	case Abort:
		x.event(0, "abort")
		return x.close(ctx, string(Abort))
	case ErrorFrame:
		x.out = x.style.Append(x.out, []byte(`{"error": {"message": "simulated engine failure", "type": "InternalServerError", "param": null, "code": 500}}`))
		x.done()
	case ErrorObject:
		x.out = x.style.Append(x.out, []byte(`{"object":"error","message":"simulated engine failure","type":"InternalServerError","param":null,"code":500}`))
	case ErrorText:
		x.out = x.style.Append(x.out, []byte(`{"error":"simulated engine failure","error_type":"generation"}`))
	case ErrorEvent:
		x.out = x.style.AppendNamed(x.out, "error", []byte(`{"message":"simulated engine failure","code":500}`))
	}
	x.flush()
	return string(f.Kind)
}

func goneUnless(here bool) string {
	if here {
		return ""
	}
	return gone
}

// ping sends comments for a while and nothing else; false when the client is gone.
func (x *exchange) ping(ctx context.Context, f Fault) bool {
	for range 10 {
		x.out = x.style.AppendComment(x.out)
		if !x.flush() || !wait(ctx, f.Delay/10) {
			return false
		}
	}
	return true
}

// breakOff ends the connection as the end of the answer asks for.
func (x *exchange) breakOff() {
	switch FaultKind(x.truth.End) {
	case Cut, Hangup:
		panic(http.ErrAbortHandler) // the only way to close the connection without ending the body
	case Reset:
		x.reset()
	case Die:
		f, _ := x.fault(Die)
		x.server.die(f.Delay)
		x.reset()
	}
}

// reset resets the connection. What is no TCP connection is closed.
func (x *exchange) reset() {
	conn, _, err := x.control.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(interface{ SetLinger(sec int) error }); ok {
		_ = tcp.SetLinger(0) // it is closed right away
	}
	_ = conn.Close() // nobody is left to be told
}
