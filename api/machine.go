package api

import (
	"context"
	"net/http"
	"sync"

	"github.com/labstack/echo/v4"

	"assay/probes"
)

// lastProbe remembers the last probe: looking at the page must not disturb a measurement by probing again.
type lastProbe struct {
	mu     sync.Mutex // held while probing, so that callers share one probe
	known  bool
	sut    probes.SUT
	checks []probes.Check
}

// last gives the last probe, and makes the first one.
func (m *lastProbe) last(ctx context.Context, c Controller) (probes.SUT, []probes.Check, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known {
		return m.sut, m.checks, nil
	}
	return m.probe(ctx, c)
}

// again probes now.
func (m *lastProbe) again(ctx context.Context, c Controller) (probes.SUT, []probes.Check, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.probe(ctx, c)
}

func (m *lastProbe) probe(ctx context.Context, c Controller) (probes.SUT, []probes.Check, error) {
	sut, checks, err := c.Probe(ctx)
	if err != nil {
		return probes.SUT{}, nil, err
	}
	m.known, m.sut, m.checks = true, sut, append([]probes.Check{}, checks...)
	return m.sut, m.checks, nil
}

// CheckList is the readiness of the machine at the last probe.
type CheckList struct {
	ProbedAtUS int64          `json:"probed_at_us"`
	Items      []probes.Check `json:"items"`
	Next       *string        `json:"next"`
}

func (s *Server) getSUT(c echo.Context) error {
	sut, _, err := s.machine.last(c.Request().Context(), s.Controller)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, sut)
}

func (s *Server) probeSUT(c echo.Context) error {
	sut, _, err := s.machine.again(c.Request().Context(), s.Controller)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, sut)
}

func (s *Server) getChecks(c echo.Context) error {
	sut, checks, err := s.machine.last(c.Request().Context(), s.Controller)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, CheckList{ProbedAtUS: sut.ProbedAtUS, Items: checks})
}
