package api

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"

	"assay/probes"
)

const (
	probePace  = 5 * time.Minute // between two probes that nobody asked for
	probeLimit = 2 * time.Minute // for one of them
)

// probed is what a probe told.
type probed struct {
	sut    probes.SUT
	checks []probes.Check
}

// lastProbe remembers the last probe: looking at the page must not disturb a measurement by probing again.
type lastProbe struct {
	mu       sync.Mutex             // held while probing, so that callers share one probe
	told     atomic.Pointer[probed] // nil before the first
	tendedUS atomic.Int64           // when a probe was last begun that nobody asked for
}

// last gives the last probe, and makes the first one.
func (m *lastProbe) last(ctx context.Context, c Controller) (probes.SUT, []probes.Check, error) {
	if p := m.told.Load(); p != nil {
		return p.sut, p.checks, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.told.Load(); p != nil {
		return p.sut, p.checks, nil
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
	m.told.Store(&probed{sut, append([]probes.Check{}, checks...)})
	return sut, m.told.Load().checks, nil
}

// glance gives the last probe without waiting for one, nil before the first. One that is older than probePace is made anew in the
// background, unless a run is under way.
func (s *Server) glance(ctx context.Context, running bool) *probed {
	m, nowUS := &s.machine, s.Now().UnixMicro()
	p, begun := m.told.Load(), m.tendedUS.Load()
	old := (p == nil || nowUS-p.sut.ProbedAtUS >= probePace.Microseconds()) && (begun == 0 || nowUS-begun >= probePace.Microseconds())
	if running || !old || !m.tendedUS.CompareAndSwap(begun, nowUS) {
		return p
	}
	s.beside.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeLimit)
		defer cancel()
		go s.untilStopped(ctx, cancel)
		if _, _, err := m.again(ctx, s.Controller); err != nil {
			s.Log.WarnContext(ctx, "probe for metrics", "error", err)
		}
	})
	return p
}

// untilStopped cancels what goes on beside requests when the server stops.
func (s *Server) untilStopped(ctx context.Context, cancel context.CancelFunc) {
	select {
	case <-s.stopped:
		cancel()
	case <-ctx.Done():
	}
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
