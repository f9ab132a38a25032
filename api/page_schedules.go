package api

import (
	"encoding/json"
	"net/http"

	"github.com/labstack/echo/v4"
)

// schedulesView is the data of the page of schedules; Name, Cron and Plan are what was typed, when it was refused.
type schedulesView struct {
	Schedules        []Schedule
	Name, Cron, Plan string
	Example          string
}

func (s *Server) pageSchedules(c echo.Context) error {
	return s.showSchedules(c, http.StatusOK, schedulesView{Cron: "0 3 * * *"}, nil)
}

func (s *Server) showSchedules(c echo.Context, status int, v schedulesView, problem *Problem) error {
	all, err := s.Store.Schedules(c.Request().Context())
	if err != nil {
		return err
	}
	for _, one := range all {
		v.Schedules = append(v.Schedules, scheduleOf(one))
	}
	v.Example = examplePlan()
	return s.render(c, status, "schedules.html", page{Title: "Schedules", Section: "schedules", Problem: problem, Main: v})
}

func (s *Server) formCreateSchedule(c echo.Context) error {
	if err := readForm(c); err != nil {
		return err
	}
	v := schedulesView{Name: c.FormValue("name"), Cron: c.FormValue("cron"), Plan: c.FormValue("plan")}
	text, err := json.Marshal(v.Plan)
	if err != nil {
		return err
	}
	_, err = s.addSchedule(c.Request().Context(), ScheduleChange{Name: &v.Name, Cron: &v.Cron, Plan: text, guest: isGuest(c)})
	if err == nil {
		return seeOther(c, "/schedules")
	}
	problem := problemOf(err)
	if problem.Status != http.StatusBadRequest {
		return err
	}
	return s.showSchedules(c, problem.Status, v, &problem)
}

// formEnableSchedule pauses a schedule or lets it go on.
func (s *Server) formEnableSchedule(c echo.Context) error {
	if err := readForm(c); err != nil {
		return err
	}
	enabled := c.FormValue("enabled") == "true"
	if _, err := s.changeSchedule(c.Request().Context(), c.Param("id"), ScheduleChange{Enabled: &enabled}); err != nil {
		return err
	}
	return seeOther(c, "/schedules")
}

func (s *Server) formRunSchedule(c echo.Context) error {
	run, err := s.startSchedule(c.Request().Context(), c.Param("id"))
	if err != nil {
		return err
	}
	return seeOther(c, "/runs/"+run.ID)
}

func (s *Server) formDeleteSchedule(c echo.Context) error {
	if err := s.dropSchedule(c.Request().Context(), c.Param("id")); err != nil {
		return err
	}
	return seeOther(c, "/schedules")
}
