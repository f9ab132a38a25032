package api

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

func (s *Server) getNode(c echo.Context) error {
	n, err := s.Store.Node(c.Request().Context())
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, n)
}

// checkNode looks at the machine now; with accept it is taken as it is.
func (s *Server) checkNode(accept bool) echo.HandlerFunc {
	return func(c echo.Context) error {
		n, err := s.CheckNode(c.Request().Context(), accept)
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, n)
	}
}
