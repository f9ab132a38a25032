package api

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"assay/probes"
	"assay/report/machine"
)

// machineView is the data of the page of the machine, worded as a report words it.
type machineView struct {
	ProbedAtUS int64
	Checks     []probes.Check // what needs attention first
	Counts     string         // "1 fail, 9 ok"
	Summary    []machine.Chapter
	Facts      []machine.Group
	Known      int
	Unknown    int
	NA         int
}

func (s *Server) pageMachine(c echo.Context) error {
	sut, checks, err := s.machine.last(c.Request().Context(), s.Controller)
	if err != nil {
		return err
	}
	v := machineView{
		ProbedAtUS: sut.ProbedAtUS, Checks: machine.SortedChecks(checks), Counts: machine.CheckCounts(checks),
		Summary: machine.Summarise(sut), Facts: machine.Facts(sut),
	}
	v.Known, v.Unknown, v.NA = machine.Tally(v.Facts)
	return s.render(c, http.StatusOK, "machine.html", page{Title: "Machine", Section: "machine", Main: v})
}

func (s *Server) formProbe(c echo.Context) error {
	if _, _, err := s.machine.again(c.Request().Context(), s.Controller); err != nil {
		return err
	}
	return seeOther(c, "/machine")
}
