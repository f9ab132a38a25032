package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/labstack/echo/v4"

	"assay/fault"
	"assay/store"
)

// layerCall is the layer of what is wrong with the call itself: like a wrong plan or command line, it is the caller's to correct.
const layerCall = fault.Plan

// Problem is an RFC 9457 problem document with the error object of the contract in it.
type Problem struct {
	Type   string      `json:"type"` // always "about:blank": Code tells problems apart
	Title  string      `json:"title"`
	Status int         `json:"status"`
	Detail string      `json:"detail"`
	Layer  fault.Layer `json:"layer"`
	Code   string      `json:"code"`
	Text   string      `json:"text"`
	Hint   string      `json:"hint,omitempty"`
}

// Error makes a decoded problem usable as an error.
func (p Problem) Error() string { return p.Text + " (" + p.Code + ")" }

// refusal is a fault of the call with the status that says so.
type refusal struct {
	status int
	*fault.Fault
}

func (r refusal) Unwrap() error { return r.Fault }

// refuse makes a refusal in the layer of the call.
func refuse(status int, code, hint, format string, args ...any) error {
	return refusal{status, fault.New(layerCall, code, hint, format, args...)}
}

// problemOf tells how an error is shown and with which status.
func problemOf(err error) Problem {
	status, f := classify(err)
	return Problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: f.Text,
		Layer: f.Layer, Code: f.Code, Text: f.Text, Hint: f.Hint,
	}
}

func classify(err error) (int, *fault.Fault) {
	var r refusal
	var tooBig *http.MaxBytesError
	var he *echo.HTTPError
	switch {
	case errors.As(err, &r):
		return r.status, r.Fault
	case errors.As(err, &tooBig):
		return http.StatusRequestEntityTooLarge, fault.New(layerCall, "too_large", "Send a smaller body; a plan is a few kilobytes.",
			"the body is larger than %d bytes", tooBig.Limit)
	case errors.Is(err, store.ErrNotFound):
		return http.StatusNotFound, outermost(err, "not_found", "GET /api/v1/runs and /api/v1/schedules list what there is.")
	case errors.Is(err, store.ErrConflict):
		return http.StatusConflict, outermost(err, "conflict", "Read its state, then try again.")
	case errors.As(err, &he):
		return he.Code, ofRouter(he)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return http.StatusServiceUnavailable, fault.New(layerCall, "canceled", "Try again.", "the call ended before its answer: %w", err)
	}
	return byLayer(err)
}

// outermost is the error's own fault or, when it has none, one with the code given.
func outermost(err error, code, hint string) *fault.Fault {
	var f *fault.Fault
	if errors.As(err, &f) {
		return f
	}
	return fault.New(layerCall, code, hint, "%w", err)
}

// ofRouter words what echo's router found.
func ofRouter(he *echo.HTTPError) *fault.Fault {
	switch he.Code {
	case http.StatusNotFound:
		return fault.New(layerCall, "no_route", "GET /api/v1/openapi.yaml lists every path.", "there is nothing at this path")
	case http.StatusMethodNotAllowed:
		return fault.New(layerCall, "method_not_allowed", "The Allow header lists the methods of this path.", "this path does not take this method")
	}
	return fault.New(layerCall, "http", "", "%v", he.Message)
}

// byLayer: a fault of the plan is the caller's, most others are ours.
func byLayer(err error) (int, *fault.Fault) {
	f := fault.Of(err, fault.Store)
	switch {
	case f.Code == "plan.not_allowed":
		return http.StatusForbidden, f
	case f.Layer == fault.Plan, f.Code == "store.bad_cursor", f.Code == "preflight.secret_in_plan":
		return http.StatusBadRequest, f
	case f.Code == "store.disk_full":
		return http.StatusInsufficientStorage, f
	case f.Code == "api.failed":
		f.Hint = "The daemon's log has more."
	}
	return http.StatusInternalServerError, f
}

// answerError is echo's error handler: a problem document, or a page for a browser that asked for one.
func (s *Server) answerError(err error, c echo.Context) {
	p := problemOf(err)
	if p.Status >= http.StatusInternalServerError && !errors.Is(err, context.Canceled) {
		s.Log.ErrorContext(c.Request().Context(), "request failed", "method", c.Request().Method, "path", c.Request().URL.Path, "error", err)
	}
	if c.Response().Committed {
		panic(http.ErrAbortHandler) // there is no second status: breaking off tells the caller that it has only a part
	}
	h := c.Response().Header()
	for _, name := range []string{"Content-Disposition", "ETag", "Location"} {
		h.Del(name)
	}
	if wantsPage(c.Request()) {
		s.answerErrorPage(c, p)
		return
	}
	writeProblem(c, p)
}

func writeProblem(c echo.Context, p Problem) {
	body, err := json.Marshal(p)
	if err != nil {
		return // plain strings and a number: cannot happen
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	_ = c.Blob(p.Status, "application/problem+json", append(body, '\n')) // the caller is gone when this fails
}

// recovered turns a panic into an error with its stack in the log.
func (s *Server) recovered(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if e, ok := v.(error); ok && errors.Is(e, http.ErrAbortHandler) {
				panic(v) // net/http's own way to drop a connection
			}
			s.Log.ErrorContext(c.Request().Context(), "panic", "value", fmt.Sprint(v), "stack", string(debug.Stack()))
			c.Error(fault.New(fault.Store, "panic", "This is a bug: please report it with the daemon's log.", "the program failed while it answered"))
			err = nil
		}()
		return next(c)
	}
}
