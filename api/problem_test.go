package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"assay/fault"
	"assay/store"
)

func TestProblemOf(t *testing.T) {
	tests := []struct {
		name   string
		err    error
		status int
		code   string
	}{
		{"refusal", refuse(418, "teapot", "", "short and stout"), 418, "plan.teapot"},
		{"wrapped refusal", fmt.Errorf("while pouring: %w", refuse(418, "teapot", "", "short")), 418, "plan.teapot"},
		{"plan", fault.New(fault.Plan, "bad", "", "no"), 400, "plan.bad"},
		{"not found without a fault", fmt.Errorf("look: %w", store.ErrNotFound), 404, "plan.not_found"},
		{"conflict with a fault", fault.New(fault.Store, "run_state", "", "no: %w", store.ErrConflict), 409, "store.run_state"},
		{"disk full", fault.New(fault.Store, "disk_full", "", "full"), 507, "store.disk_full"},
		{"server", fault.New(fault.Server, "exited", "", "gone"), 500, "server.exited"},
		{"any", errors.New("surprise"), 500, "store.failed"},
		{"canceled", context.Canceled, 503, "plan.canceled"},
		{"body", &http.MaxBytesError{Limit: 5}, 413, "plan.too_large"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if p := problemOf(tt.err); p.Status != tt.status || p.Code != tt.code {
				t.Errorf("%d %s, want %d %s", p.Status, p.Code, tt.status, tt.code)
			}
		})
	}
}

func TestPanicIsAProblem(t *testing.T) {
	f := newFixture(t)
	e := echo.New()
	e.HTTPErrorHandler = f.answerError
	e.Use(f.recovered)
	e.GET("/", func(echo.Context) error { panic("kaboom") })
	w := httptest.NewRecorder()
	e.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	p := answer{w.Code, w.Header(), w.Body.Bytes()}.problem(t)
	if p.Status != 500 || p.Code != "store.panic" || strings.Contains(w.Body.String(), "kaboom") {
		t.Errorf("a panic answers %s", w.Body)
	}
	if log := f.log.String(); !strings.Contains(log, "kaboom") || !strings.Contains(log, "problem_test.go") {
		t.Errorf("the log misses the panic or its stack: %s", log)
	}
}

func TestErrorsOfTheDaemonAreShown(t *testing.T) {
	f := newFixture(t)
	f.ctl.fail = fault.New(fault.Preflight, "probe_failed", "try as root", "cannot read the machine")
	for _, path := range []string{"/api/v1/sut", "/api/v1/checks"} {
		if p := f.do("GET", path, "").problem(t); p.Code != "preflight.probe_failed" || p.Hint != "try as root" {
			t.Errorf("%s: %+v", path, p)
		}
	}
	page := f.do("GET", "/machine", "", "Accept", "text/html")
	if page.status != 500 || !strings.Contains(string(page.body), "try as root") || !strings.Contains(page.header.Get("Content-Type"), "text/html") {
		t.Errorf("the page of the error: %d %s", page.status, page.body)
	}
}

func TestClosedStoreIsUnhealthy(t *testing.T) {
	f := newFixture(t)
	f.Store.Close()
	if p := f.do("GET", "/healthz", "").problem(t); p.Status != http.StatusServiceUnavailable {
		t.Errorf("%+v", p)
	}
}
