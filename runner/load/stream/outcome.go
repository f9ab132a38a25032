package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"

	"assay/runner/record"
)

var (
	errTimeout = errors.New("the request's time limit passed")
	errStalled = errors.New("no byte came within the stall limit")
	errTooLong = fmt.Errorf("an event is longer than %d MiB", maxEvent>>20)

	// ErrDrained is the cause that cuts off a request as censored.
	ErrDrained = errors.New("it was still running when the drain limit cut it off")
)

// dialError says that no connection came about.
type dialError struct{ cause error }

func (e *dialError) Error() string { return e.cause.Error() }
func (e *dialError) Unwrap() error { return e.cause }

// outcome says how a request ended, and the first error. What the server itself said counts before how the connection
// ended: [DONE] is no proof of success, and an error in the stream is one whatever follows.
func (x *Exchange) outcome(ctx context.Context, end error) (record.Outcome, string) {
	s := &x.seen
	switch {
	case x.resp.started() && x.resp.status != 200:
		return record.HTTPStatus, fmt.Sprintf("HTTP %d: %s", x.resp.status, message(x.text))
	case x.resp.started() && !x.resp.stream && !stopped(end):
		return record.BadResponse, "the answer is no event stream: " + string(x.text)
	case x.resp.encoding != "" && !stopped(end):
		return record.BadResponse, "the answer is encoded, which was not asked for: " + x.resp.encoding
	case s.failure != "":
		return record.ErrorFrame, s.failure
	case s.finish == "abort":
		return record.Aborted, "the server aborted the request"
	case s.finish == "error":
		return record.ErrorFrame, "the finish reason is error"
	case s.broken != "":
		return record.BadResponse, s.broken
	case s.done:
		return record.OK, ""
	case end == nil && s.finish != "":
		return record.OK, ""
	case end == nil:
		return record.Truncated, "the stream ended without a finish reason and without [DONE]"
	}
	return x.broke(ctx, end)
}

// stopped tells ends that the client itself made.
func stopped(end error) bool {
	return errors.Is(end, context.Canceled) || errors.Is(end, context.DeadlineExceeded) || errors.Is(end, errTimeout) || errors.Is(end, errStalled)
}

// broke is the outcome of a request whose response did not come to its end.
func (x *Exchange) broke(ctx context.Context, end error) (record.Outcome, string) {
	var dial *dialError
	switch {
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), ErrDrained):
		return record.Censored, ErrDrained.Error()
	case ctx.Err() != nil && x.seen.sentUS == record.Never:
		return record.Dropped, "the run ended before it was sent: " + context.Cause(ctx).Error()
	case ctx.Err() != nil:
		return record.Aborted, "the run ended: " + context.Cause(ctx).Error()
	case errors.Is(end, errTimeout):
		return record.Timeout, end.Error()
	case errors.Is(end, errStalled):
		return record.Stalled, end.Error()
	case errors.As(end, &dial):
		return refused(dial)
	case errors.Is(end, errProtocol), errors.Is(end, errTooLong):
		return record.BadResponse, end.Error()
	case errors.Is(end, io.EOF) && x.resp.started():
		return record.Truncated, "the connection closed in the middle of the answer"
	case errors.Is(end, io.EOF):
		return record.Reset, "the connection closed before an answer came"
	}
	return record.Reset, end.Error()
}

// refused tells a limit of this machine from a server that cannot be reached.
func refused(err *dialError) (record.Outcome, string) {
	for _, limit := range []error{syscall.EMFILE, syscall.ENFILE, syscall.EADDRNOTAVAIL, syscall.ENOBUFS, syscall.ENOMEM} {
		if errors.Is(err, limit) {
			return record.Dropped, "this machine could not open another connection: " + err.Error()
		}
	}
	return record.Refused, err.Error()
}
