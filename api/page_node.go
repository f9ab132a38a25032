package api

import (
	"context"

	"github.com/labstack/echo/v4"

	"assay/result"
)

// nodeNow is what is against the machine; nil when nothing is. A page that cannot be told is still a page.
func (s *Server) nodeNow(ctx context.Context) *result.Node {
	n, err := s.Store.Node(ctx)
	if err != nil {
		s.Log.WarnContext(ctx, "read the state of the node", "error", err)
		return nil
	}
	if n.State == result.NodeReady || n.State == "" {
		return nil
	}
	return &n
}

// formCheckNode looks at the machine, and with accept takes it as it is.
func (s *Server) formCheckNode(accept bool) echo.HandlerFunc {
	return func(c echo.Context) error {
		if _, err := s.CheckNode(c.Request().Context(), accept); err != nil {
			return err
		}
		return seeOther(c, "/machine")
	}
}
