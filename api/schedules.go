package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"assay/plan"
	"assay/store"
)

// Schedule is a plan that is run again and again. Cron holds five fields or "@every 1h", in the node's local time.
type Schedule struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Cron      string          `json:"cron"`
	Plan      json.RawMessage `json:"plan"`
	Enabled   bool            `json:"enabled"`
	CreatedUS int64           `json:"created_us"`
	LastRun   string          `json:"last_run,omitempty"`
	LastUS    int64           `json:"last_us,omitempty"`
}

// ScheduleChange is the body that creates or changes a schedule; a field left out keeps its value. Plan is a plan as JSON, or a
// text of YAML. A new schedule needs cron and plan; its name is the plan's unless given, and it is enabled unless told otherwise.
type ScheduleChange struct {
	Name    *string         `json:"name,omitempty"`
	Cron    *string         `json:"cron,omitempty"`
	Plan    json.RawMessage `json:"plan,omitempty"`
	Enabled *bool           `json:"enabled,omitempty"`

	guest bool // the plan came over the network
}

func scheduleOf(r store.Schedule) Schedule {
	return Schedule{
		ID: r.ID, Name: r.Name, Cron: r.Cron, Plan: r.Plan, Enabled: r.Enabled,
		CreatedUS: r.CreatedUS, LastRun: r.LastRun, LastUS: r.LastUS,
	}
}

// listSchedules answers with all of them: a node has few.
func (s *Server) listSchedules(c echo.Context) error {
	all, err := s.Store.Schedules(c.Request().Context())
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, newPage(all, "", scheduleOf))
}

func (s *Server) getSchedule(c echo.Context) error {
	one, err := s.Store.Schedule(c.Request().Context(), c.Param("id"))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, scheduleOf(one))
}

func (s *Server) createSchedule(c echo.Context) error {
	change, err := readChange(c)
	if err != nil {
		return err
	}
	one, err := s.addSchedule(c.Request().Context(), change)
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderLocation, "/api/v1/schedules/"+one.ID)
	return c.JSON(http.StatusCreated, scheduleOf(one))
}

func (s *Server) patchSchedule(c echo.Context) error {
	change, err := readChange(c)
	if err != nil {
		return err
	}
	one, err := s.changeSchedule(c.Request().Context(), c.Param("id"), change)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, scheduleOf(one))
}

func (s *Server) deleteSchedule(c echo.Context) error {
	if err := s.dropSchedule(c.Request().Context(), c.Param("id")); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// runSchedule queues the schedule's plan now; its times stay as they are.
func (s *Server) runSchedule(c echo.Context) error {
	run, err := s.startSchedule(c.Request().Context(), c.Param("id"))
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderLocation, "/api/v1/runs/"+run.ID)
	return c.JSON(http.StatusCreated, runItem(run))
}

// readChange reads the body strictly: a mistyped key must not pass as a change that was made.
func readChange(c echo.Context) (ScheduleChange, error) {
	change := ScheduleChange{guest: isGuest(c)}
	body, err := readBody(c)
	if err != nil {
		return change, err
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&change); err != nil {
		return change, refuse(http.StatusBadRequest, "bad_json", "Send {name, cron, plan, enabled}.", "the body is not a schedule: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return change, refuse(http.StatusBadRequest, "bad_json", "Send one JSON object.", "the body goes on after the schedule")
	}
	return change, nil
}

// apply writes what the change names onto a schedule.
func (ch ScheduleChange) apply(to *store.Schedule, permit func(p plan.Plan, guest bool) error) error {
	if len(ch.Plan) > 0 {
		p, err := planOf(ch.Plan)
		if err != nil {
			return err
		}
		if permit != nil {
			if err := permit(p, ch.guest); err != nil {
				return err
			}
		}
		to.Plan, to.Guest = p.Canonical(), ch.guest
		if to.Name == "" {
			to.Name = p.Name
		}
	}
	if ch.Name != nil && strings.TrimSpace(*ch.Name) != "" {
		to.Name = strings.TrimSpace(*ch.Name)
	}
	if ch.Cron != nil {
		to.Cron = strings.TrimSpace(*ch.Cron)
	}
	if ch.Enabled != nil {
		to.Enabled = *ch.Enabled
	}
	if to.Cron == "" || len(to.Plan) == 0 {
		return refuse(http.StatusBadRequest, "incomplete", `cron is five fields such as "0 3 * * *", or "@every 6h".`, "a schedule needs cron and plan")
	}
	return nil
}

// planOf reads a plan that stands in JSON: as an object, or as a text of YAML.
func planOf(raw json.RawMessage) (plan.Plan, error) {
	source := []byte(raw)
	var text string
	if json.Unmarshal(raw, &text) == nil {
		source = []byte(text)
	}
	p, err := plan.Parse(source)
	if err != nil {
		return plan.Plan{}, badPlan(err)
	}
	return p, nil
}

func (s *Server) addSchedule(ctx context.Context, change ScheduleChange) (store.Schedule, error) {
	one := store.Schedule{ID: store.NewScheduleID(), Enabled: true, CreatedUS: s.Now().UnixMicro()}
	if err := change.apply(&one, s.Permit); err != nil {
		return one, err
	}
	if err := s.Store.CreateSchedule(ctx, one); err != nil {
		return one, err
	}
	return one, s.reschedule(ctx, func(ctx context.Context) error { return s.Store.DeleteSchedule(ctx, one.ID) })
}

func (s *Server) changeSchedule(ctx context.Context, id string, change ScheduleChange) (store.Schedule, error) {
	before, err := s.Store.Schedule(ctx, id)
	if err != nil {
		return before, err
	}
	after := before
	if err := change.apply(&after, s.Permit); err != nil {
		return before, err
	}
	if err := s.Store.UpdateSchedule(ctx, after); err != nil {
		return before, err
	}
	return after, s.reschedule(ctx, func(ctx context.Context) error { return s.Store.UpdateSchedule(ctx, before) })
}

func (s *Server) dropSchedule(ctx context.Context, id string) error {
	if err := s.Store.DeleteSchedule(ctx, id); err != nil {
		return err
	}
	return s.Controller.Reschedule(ctx)
}

// reschedule tells the daemon to read the schedules again. Only the daemon can judge a cron expression: what it refuses is
// taken back, so that the store never holds a schedule that will not run.
func (s *Server) reschedule(ctx context.Context, undo func(context.Context) error) error {
	err := s.Controller.Reschedule(ctx)
	if err == nil {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	if undoErr := errors.Join(undo(ctx), s.Controller.Reschedule(ctx)); undoErr != nil {
		return errors.Join(err, undoErr)
	}
	return refusal{http.StatusBadRequest, outermost(err, "bad_schedule", `cron is five fields such as "0 3 * * *", or "@every 6h".`)}
}

func (s *Server) startSchedule(ctx context.Context, id string) (store.Run, error) {
	one, err := s.Store.Schedule(ctx, id)
	if err != nil {
		return store.Run{}, err
	}
	p, err := plan.Parse(one.Plan)
	if err != nil {
		return store.Run{}, badPlan(err)
	}
	run, err := s.Controller.Submit(ctx, p, Submission{Guest: one.Guest})
	if err != nil {
		return store.Run{}, err
	}
	return run, s.Store.RanSchedule(ctx, id, run.ID, s.Now().UnixMicro())
}
