package api

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"path/filepath"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"assay/fault"
	"assay/plan"
	"assay/result"
	"assay/store"
)

// maxBody bounds a request's body: a plan is a few kilobytes.
const maxBody = 1 << 20

// maxKey bounds an Idempotency-Key.
const maxKey = 255

// RunItem is a run in a list. Times are UTC in microseconds.
type RunItem struct {
	ID            string       `json:"id"`
	Name          string       `json:"name"`
	State         result.State `json:"state"`
	Verdict       string       `json:"verdict,omitempty"`
	Error         *fault.Fault `json:"error,omitempty"`
	PlanSHA256    string       `json:"plan_sha256"`
	Source        string       `json:"source"`
	CreatedUS     int64        `json:"created_us"`
	StartedUS     int64        `json:"started_us,omitempty"`
	EndedUS       int64        `json:"ended_us,omitempty"`
	Points        int          `json:"points"`
	PointsDone    int          `json:"points_done"`
	BestSystemTPS *float64     `json:"best_system_tps,omitempty"` // tok/s
	BestPoint     string       `json:"best_point,omitempty"`
}

// RunDetail is one run as it stands: the plan it follows and what it has measured so far.
type RunDetail struct {
	RunItem
	Reasons   []result.Reason `json:"reasons"` // why it is not valid
	Plan      json.RawMessage `json:"plan"`
	Phases    []result.Phase  `json:"phases"`
	Completed []result.Point  `json:"completed"`
}

func runItem(r store.Run) RunItem {
	return RunItem{
		ID: r.ID, Name: r.Name, State: r.State, Verdict: r.Verdict, Error: r.Error,
		PlanSHA256: r.PlanSHA256, Source: r.Source,
		CreatedUS: r.CreatedUS, StartedUS: r.StartedUS, EndedUS: r.EndedUS,
		Points: r.Points, PointsDone: r.PointsDone, BestSystemTPS: r.BestTPS, BestPoint: r.BestPoint,
	}
}

// runStates lists the values of ?state=.
func runStates() []result.State {
	return []result.State{result.Queued, result.Running, result.Done, result.Failed, result.Interrupted, result.Canceled}
}

// stateOf reads ?state=; "" means all.
func stateOf(c echo.Context) (result.State, error) {
	state := result.State(c.QueryParam("state"))
	if state != "" && !slices.Contains(runStates(), state) {
		return "", refuse(http.StatusBadRequest, "bad_state", "Use queued, running, done, failed, interrupted or canceled.", "state=%q is not a state of a run", state)
	}
	return state, nil
}

func (s *Server) listRuns(c echo.Context) error {
	limit, err := limitOf(c)
	if err != nil {
		return err
	}
	state, err := stateOf(c)
	if err != nil {
		return err
	}
	runs, next, err := s.Store.Runs(c.Request().Context(), store.Filter{State: state, Limit: limit, Cursor: c.QueryParam("cursor")})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, newPage(runs, next, runItem))
}

func (s *Server) getRun(c echo.Context) error {
	run, err := s.Store.Run(c.Request().Context(), c.Param("id"))
	if err != nil {
		return err
	}
	detail, err := s.detail(c.Request().Context(), run)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, detail)
}

// detail reads what belongs to a run; lists are never null.
func (s *Server) detail(ctx context.Context, run store.Run) (RunDetail, error) {
	phases, err := s.Store.Phases(ctx, run.ID)
	if err != nil {
		return RunDetail{}, err
	}
	points, err := s.Store.Points(ctx, run.ID)
	if err != nil {
		return RunDetail{}, err
	}
	return RunDetail{
		RunItem: runItem(run), Plan: run.Plan, Reasons: append([]result.Reason{}, run.Reasons...),
		Phases: append([]result.Phase{}, phases...), Completed: append([]result.Point{}, points...),
	}, nil
}

func (s *Server) submitRun(c echo.Context) error {
	kind, _, err := mime.ParseMediaType(c.Request().Header.Get(echo.HeaderContentType))
	if err == nil && !slices.Contains(planTypes(), kind) {
		return refuse(http.StatusUnsupportedMediaType, "media_type", "Send the plan as application/yaml or application/json.", "a plan is not %s", kind)
	}
	body, err := readBody(c)
	if err != nil {
		return err
	}
	p, err := plan.Parse(body)
	if err != nil {
		return badPlan(err)
	}
	run, repeated, err := s.submit(c.Request().Context(), p, Submission{Key: c.Request().Header.Get("Idempotency-Key"),
		BaseDir: c.QueryParam("base_dir"), NoArchive: c.QueryParam("archive") == "false", Guest: isGuest(c)})
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderLocation, "/api/v1/runs/"+run.ID)
	if repeated {
		return c.JSON(http.StatusOK, runItem(run))
	}
	return c.JSON(http.StatusCreated, runItem(run))
}

// isGuest tells whether a call came over the network. Who reaches the Unix socket is the daemon's own user.
func isGuest(c echo.Context) bool { return !overUnix(c.Request()) }

// planTypes are the media types a plan may come as; curl --data-binary says the second last.
func planTypes() []string {
	return []string{
		"application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml", "application/json", "text/plain",
		"application/x-www-form-urlencoded", "application/octet-stream",
	}
}

// badPlan makes sure that what the parser says is shown as the caller's mistake.
func badPlan(err error) error {
	return refusal{http.StatusBadRequest, fault.Of(err, fault.Plan)}
}

// submit queues a plan, or finds the run an earlier call with the same key made; the store refuses the key with another plan.
func (s *Server) submit(ctx context.Context, p plan.Plan, sub Submission) (run store.Run, repeated bool, err error) {
	if len(sub.Key) > maxKey {
		return run, false, refuse(http.StatusBadRequest, "bad_key", "Use a UUID.", "the Idempotency-Key is longer than %d bytes", maxKey)
	}
	if sub.BaseDir != "" && !filepath.IsAbs(sub.BaseDir) {
		return run, false, refuse(http.StatusBadRequest, "bad_base_dir", "Write the whole path, beginning with /.", "base_dir %q is no absolute path", sub.BaseDir)
	}
	if repeated, err = s.knownKey(ctx, sub.Key); err != nil {
		return run, false, err
	}
	run, err = s.Controller.Submit(ctx, p, sub)
	return run, repeated, err
}

// knownKey tells whether a run was queued under this key before.
func (s *Server) knownKey(ctx context.Context, key string) (bool, error) {
	if key == "" {
		return false, nil
	}
	_, err := s.Store.RunByKey(ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// readBody reads a bounded body.
func readBody(c echo.Context) ([]byte, error) {
	defer boundBody(c)()
	return io.ReadAll(c.Request().Body)
}

// boundBody bounds the body's length and the time it may take; who sends it too slowly is cut off. release takes the time limit back.
func boundBody(c echo.Context) (release func()) {
	r, w := c.Request(), c.Response().Writer
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(time.Minute)) // not every writer can: a recorder in a test has no deadline
	return func() { _ = rc.SetReadDeadline(time.Time{}) }
}

func (s *Server) cancelRun(c echo.Context) error {
	run, err := s.cancel(c.Request().Context(), c.Param("id"))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusAccepted, runItem(run))
}

// cancel asks a run to stop. Repeating it, also after the run has ended, changes nothing.
func (s *Server) cancel(ctx context.Context, id string) (store.Run, error) {
	run, err := s.Store.Run(ctx, id)
	if err != nil || run.State.Ended() {
		return run, err
	}
	if err := s.Controller.Change(ctx, id, Cancel); err != nil {
		return run, err
	}
	return s.Store.Run(ctx, id)
}

func (s *Server) resumeRun(c echo.Context) error {
	run, err := s.resume(c.Request().Context(), c.Param("id"))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusAccepted, runItem(run))
}

// resume queues a run that ended early again; what it measured stays, and it goes on at the next point.
func (s *Server) resume(ctx context.Context, id string) (store.Run, error) {
	if err := s.Controller.Change(ctx, id, Resume); err != nil {
		return store.Run{}, err
	}
	return s.Store.Run(ctx, id)
}

func (s *Server) deleteRun(c echo.Context) error {
	if err := s.remove(c.Request().Context(), c.Param("id")); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// remove deletes an ended run with all its files.
func (s *Server) remove(ctx context.Context, id string) error {
	run, err := s.Store.Run(ctx, id)
	if err != nil {
		return err
	}
	if !run.State.Ended() {
		return refuse(http.StatusConflict, "run_active", "Cancel it first.", "run %s is %s", run.ID, run.State)
	}
	return s.Store.DeleteRun(ctx, id)
}
