package api

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"assay/store"
)

// Health says that the process answers and can read its database.
type Health struct {
	Status string `json:"status"` // always "ok": what is not well is a problem document
}

func (s *Server) health(c echo.Context) error {
	if _, _, err := s.Store.Runs(c.Request().Context(), store.Filter{Limit: 1}); err != nil {
		return refusal{http.StatusServiceUnavailable, outermost(err, "unhealthy", "The daemon's log has more.")}
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.JSON(http.StatusOK, Health{Status: "ok"})
}

func (s *Server) version(c echo.Context) error { return c.JSON(http.StatusOK, s.Program) }
