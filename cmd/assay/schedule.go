package main

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"assay/agent"
	"assay/agent/cron"
	"assay/agent/planfiles"
	"assay/fault"
	"assay/plan"
)

// scheduleView is what this program reads of a schedule in the API.
type scheduleView struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Cron    string `json:"cron"`
	Enabled bool   `json:"enabled"`
	LastRun string `json:"last_run"`
}

func (a *app) scheduleCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "schedule", Short: "rerun plans on cron, by the daemon", Args: cobra.NoArgs,
		Example: "  assay schedule add plan.yaml --cron '0 3 * * *'\n  assay schedule list",
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.scheduleAdd(), a.scheduleList(), a.scheduleRemove(), a.scheduleRun())
	return c
}

func (a *app) scheduleAdd() *cobra.Command {
	var times, name string
	var sets []string
	c := &cobra.Command{
		Use: "add PLAN", Short: "rerun a plan at the times of a cron expression", Args: oneArg(aPlan),
		Example: "  assay schedule add plan.yaml --cron '0 3 * * *' --name nightly",
		RunE: func(c *cobra.Command, args []string) error {
			if _, err := cron.Parse(times); err != nil {
				return err
			}
			p, dir, err := readPlan(args[0], sets)
			if err != nil {
				return err
			}
			if err := agent.CheckPlan(p); err != nil {
				return err
			}
			if p, err = planfiles.Absolute(p, dir); err != nil {
				return err
			}
			return a.addSchedule(c, p, times, name)
		},
	}
	c.Flags().StringVar(&times, "cron", "", "five fields in this machine's time, or @daily, @every 6h")
	c.Flags().StringVar(&name, "name", "", "name of the schedule (default: the plan's)")
	c.Flags().StringArrayVar(&sets, "set", nil, "set a key of the plan, `path=value` (repeatable)")
	return c
}

func (a *app) addSchedule(c *cobra.Command, p plan.Plan, times, name string) error {
	d, err := a.findDaemon()
	if err != nil {
		return err
	}
	if name == "" {
		name = p.Name
	}
	body, err := json.Marshal(map[string]any{"name": name, "cron": times, "plan": json.RawMessage(p.Canonical())})
	if err != nil {
		return fmt.Errorf("encode the schedule: %w", err)
	}
	var s scheduleView
	if err := d.Call(c.Context(), http.MethodPost, "/schedules", body, &s); err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.stdout, s.ID)
	return err
}

func (a *app) scheduleList() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list", Short: "the schedules", Args: cobra.NoArgs, Example: "  assay schedule list",
		RunE: func(c *cobra.Command, _ []string) error {
			d, err := a.findDaemon()
			if err != nil {
				return err
			}
			var raw []byte
			if err := d.Call(c.Context(), http.MethodGet, "/schedules", nil, &raw); err != nil {
				return err
			}
			if asJSON {
				_, err = a.stdout.Write(raw)
				return err
			}
			var page struct{ Items []scheduleView }
			if err := json.Unmarshal(raw, &page); err != nil {
				return fmt.Errorf("read the daemon's answer: %w", err)
			}
			for _, s := range page.Items {
				fmt.Fprintf(a.stdout, "%s  %-16s enabled=%-5t last=%s  %s\n", s.ID, s.Cron, s.Enabled, s.LastRun, fault.Printable(s.Name))
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return c
}

func (a *app) scheduleRemove() *cobra.Command {
	return &cobra.Command{
		Use: "rm ID", Short: "remove a schedule; its runs stay", Args: oneArg("the id of a schedule"), Example: "  assay schedule rm 3f9a2c1b",
		RunE: func(c *cobra.Command, args []string) error {
			d, err := a.findDaemon()
			if err != nil {
				return err
			}
			return d.Call(c.Context(), http.MethodDelete, "/schedules/"+args[0], nil, nil)
		},
	}
}

func (a *app) scheduleRun() *cobra.Command {
	return &cobra.Command{
		Use: "run ID", Short: "queue a schedule's plan now", Args: oneArg("the id of a schedule"), Example: "  assay schedule run 3f9a2c1b",
		RunE: func(c *cobra.Command, args []string) error {
			d, err := a.findDaemon()
			if err != nil {
				return err
			}
			var run runView
			if err := d.Call(c.Context(), http.MethodPost, "/schedules/"+args[0]+"/run", nil, &run); err != nil {
				return err
			}
			_, err = fmt.Fprintln(a.stdout, run.ID)
			return err
		},
	}
}
