package api

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// route is one line of the server's surface.
type route struct {
	method string
	path   string
	scope  Scope
	handle echo.HandlerFunc
}

// apiRoutes is the whole surface for programs; openapi.yaml describes exactly these.
func (s *Server) apiRoutes() []route {
	const v1 = "/api/v1"
	metrics := s.metrics()
	return []route{
		{http.MethodGet, "/healthz", Open, s.health},
		{http.MethodGet, "/metrics", Read, metrics},
		{http.MethodGet, "/version", Open, s.version},

		{http.MethodGet, v1 + "/healthz", Open, s.health},
		{http.MethodGet, v1 + "/metrics", Read, metrics},
		{http.MethodGet, v1 + "/version", Open, s.version},
		{http.MethodGet, v1 + "/openapi.yaml", Open, s.serveAsset("openapi.yaml")},

		{http.MethodGet, v1 + "/runs", Read, s.listRuns},
		{http.MethodPost, v1 + "/runs", Run, s.submitRun},
		{http.MethodGet, v1 + "/runs/:id", Read, s.getRun},
		{http.MethodDelete, v1 + "/runs/:id", Admin, s.deleteRun},
		{http.MethodPost, v1 + "/runs/:id/cancel", Run, s.cancelRun},
		{http.MethodPost, v1 + "/runs/:id/resume", Run, s.resumeRun},
		{http.MethodGet, v1 + "/runs/:id/result", Read, s.getResult},
		{http.MethodGet, v1 + "/runs/:id/report", Read, s.getReport},
		{http.MethodGet, v1 + "/runs/:id/archive", Read, s.getArchive},
		{http.MethodGet, v1 + "/runs/:id/events", Read, s.runEvents},
		{http.MethodGet, v1 + "/runs/:id/logs", Read, s.getLogs},
		{http.MethodGet, v1 + "/runs/:id/files/*", Read, s.getFile},

		{http.MethodGet, v1 + "/sut", Read, s.getSUT},
		{http.MethodPost, v1 + "/sut/probe", Run, s.probeSUT},
		{http.MethodGet, v1 + "/checks", Read, s.getChecks},
		{http.MethodGet, v1 + "/node", Read, s.getNode},
		{http.MethodPost, v1 + "/node/check", Run, s.checkNode(false)},
		{http.MethodPost, v1 + "/node/accept", Admin, s.checkNode(true)},

		{http.MethodGet, v1 + "/schedules", Read, s.listSchedules},
		{http.MethodPost, v1 + "/schedules", Admin, s.createSchedule},
		{http.MethodGet, v1 + "/schedules/:id", Read, s.getSchedule},
		{http.MethodPatch, v1 + "/schedules/:id", Admin, s.patchSchedule},
		{http.MethodDelete, v1 + "/schedules/:id", Admin, s.deleteSchedule},
		{http.MethodPost, v1 + "/schedules/:id/run", Run, s.runSchedule},

		{http.MethodGet, v1 + "/events", Read, s.allEvents},
	}
}

// pageRoutes is the surface for people. Forms answer with a redirect.
func (s *Server) pageRoutes() []route {
	return []route{
		{http.MethodGet, "/", Read, s.pageRuns},
		{http.MethodGet, "/app.js", Open, s.serveAsset("app.js")},
		{http.MethodGet, "/style.css", Open, s.serveAsset("style.css")},
		{http.MethodGet, "/favicon.svg", Open, s.serveAsset("favicon.svg")},

		{http.MethodPost, "/runs", Run, s.formSubmit},
		{http.MethodGet, "/runs/:id", Read, s.pageRun},
		{http.MethodPost, "/runs/:id/cancel", Run, s.formCancel},
		{http.MethodPost, "/runs/:id/resume", Run, s.formResume},
		{http.MethodPost, "/runs/:id/delete", Admin, s.formDelete},

		{http.MethodGet, "/schedules", Read, s.pageSchedules},
		{http.MethodPost, "/schedules", Admin, s.formCreateSchedule},
		{http.MethodPost, "/schedules/:id/enabled", Admin, s.formEnableSchedule},
		{http.MethodPost, "/schedules/:id/run", Run, s.formRunSchedule},
		{http.MethodPost, "/schedules/:id/delete", Admin, s.formDeleteSchedule},

		{http.MethodGet, "/machine", Read, s.pageMachine},
		{http.MethodPost, "/machine/probe", Run, s.formProbe},
		{http.MethodPost, "/node/check", Run, s.formCheckNode(false)},
		{http.MethodPost, "/node/accept", Admin, s.formCheckNode(true)},
	}
}
