package api

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/labstack/echo/v4"

	"assay/fault"
	"assay/plan"
	"assay/report"
	"assay/result"
	"assay/store"
)

// logLines is how much of a log the page of a run shows.
const logLines = 60

// runsView is the data of the list of runs.
type runsView struct {
	Runs    []RunItem
	States  []result.State
	State   result.State // the one shown; "" for all
	Next    string
	Paged   bool // not the first page
	NowUS   int64
	Plan    string // what was typed, when it was refused
	Example string
}

// runView is the data of one run's page.
type runView struct {
	Run       RunDetail
	NowUS     int64
	Log       string
	PlanText  string
	HasResult bool
	Formats   []report.Format
}

// Active tells whether the run still changes.
func (v runView) Active() bool { return !v.Run.State.Ended() }

// Now is the phase the run is in, if any.
func (v runView) Now() *result.Phase {
	for i := len(v.Run.Phases) - 1; i >= 0; i-- {
		if v.Run.Phases[i].EndedUS == 0 {
			return &v.Run.Phases[i]
		}
	}
	return nil
}

func (s *Server) pageRuns(c echo.Context) error { return s.showRuns(c, http.StatusOK, "", nil) }

// showRuns renders the list; typed and problem are of a plan that was refused.
func (s *Server) showRuns(c echo.Context, status int, typed string, problem *Problem) error {
	cursor := c.QueryParam("cursor")
	state, err := stateOf(c)
	if err != nil {
		return err
	}
	runs, next, err := s.Store.Runs(c.Request().Context(), store.Filter{State: state, Limit: defaultLimit, Cursor: cursor})
	if err != nil {
		return err
	}
	v := runsView{States: runStates(), State: state, Next: next, Paged: cursor != "", NowUS: s.Now().UnixMicro(), Plan: typed, Example: examplePlan()}
	refresh := false
	for _, r := range runs {
		v.Runs = append(v.Runs, runItem(r))
		refresh = refresh || !r.State.Ended()
	}
	return s.render(c, status, "runs.html", page{Title: "Runs", Section: "runs", Refresh: refresh, Problem: problem, Main: v})
}

// examplePlan is what an empty form shows.
func examplePlan() string {
	b, err := plan.Example("sweep")
	if err != nil {
		return "" // only a protocol that is not there has no example
	}
	return string(b)
}

func (s *Server) formSubmit(c echo.Context) error {
	if err := readForm(c); err != nil {
		return err
	}
	text := c.FormValue("plan")
	p, err := plan.Parse([]byte(text))
	if err != nil {
		problem := problemOf(badPlan(err))
		return s.showRuns(c, problem.Status, text, &problem)
	}
	run, _, err := s.submit(c.Request().Context(), p, Submission{Guest: isGuest(c)})
	if err != nil {
		return err
	}
	return seeOther(c, "/runs/"+run.ID)
}

func (s *Server) pageRun(c echo.Context) error {
	ctx := c.Request().Context()
	run, err := s.Store.Run(ctx, c.Param("id"))
	if err != nil {
		return err
	}
	v := runView{NowUS: s.Now().UnixMicro(), Log: s.logTail(ctx, run.ID), PlanText: planText(run.Plan), Formats: formatsOf(run.Plan)}
	if v.Run, err = s.detail(ctx, run); err != nil {
		return err
	}
	_, err = os.Stat(filepath.Join(s.Store.RunDir(run.ID), result.FileName))
	v.HasResult = err == nil
	return s.render(c, http.StatusOK, "run.html", page{Title: run.Name, Section: "runs", Refresh: v.Active(), Main: v})
}

// formatsOf lists the formats that a run's report has; a stored plan that this program cannot read any more says nothing of its protocol.
func formatsOf(stored []byte) []report.Format {
	p, err := plan.Parse(stored)
	if err != nil {
		p = plan.Plan{}
	}
	return report.FormatsFor(p)
}

// planText is the readable form of a stored plan; the stored form itself when this program cannot read it any more.
func planText(stored []byte) string {
	p, err := plan.Parse(stored)
	if err != nil {
		return string(stored)
	}
	return string(p.YAML())
}

// logTail is the end of the run's logs, why it is withheld, or nothing: a page without its log is still a page.
func (s *Server) logTail(ctx context.Context, id string) string {
	root, err := os.OpenRoot(s.Store.RunDir(id))
	if err != nil {
		return ""
	}
	defer root.Close()
	names := logNames(root)
	if err := s.shown(ctx, id, names...); err != nil {
		return fault.Of(err, fault.Store).Text
	}
	var out bytes.Buffer
	if err := writeLogs(&out, root, names, logLines, s.hiding(id)); err != nil {
		return ""
	}
	return strings.ToValidUTF8(out.String(), "\uFFFD")
}

func (s *Server) formCancel(c echo.Context) error {
	run, err := s.cancel(c.Request().Context(), c.Param("id"))
	if err != nil {
		return err
	}
	return seeOther(c, "/runs/"+run.ID)
}

func (s *Server) formResume(c echo.Context) error {
	run, err := s.resume(c.Request().Context(), c.Param("id"))
	if err != nil {
		return err
	}
	return seeOther(c, "/runs/"+run.ID)
}

func (s *Server) formDelete(c echo.Context) error {
	if err := s.remove(c.Request().Context(), c.Param("id")); err != nil {
		return err
	}
	return seeOther(c, "/")
}

// statusOf is what a badge says: the verdict of a run that is done, else its state.
func statusOf(r RunItem) string {
	if r.State == result.Done && r.Verdict != "" {
		return r.Verdict
	}
	return string(r.State)
}
