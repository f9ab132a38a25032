package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"assay/agent"
	"assay/agent/cron"
	"assay/agent/planfiles"
	"assay/cmd/assay/arg"
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
		Use: "schedule", Short: "rerun plans on cron, by the daemon",
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
		Use: "add PLAN", Short: "rerun a plan at the times of a cron expression", Args: arg.One(arg.Plan),
		Example: "  assay schedule add plan.yaml --cron '0 3 * * *' --name nightly",
		RunE: func(c *cobra.Command, args []string) error {
			if times == "" {
				return usage("say with --cron when the plan is to run; for example: --cron '0 3 * * *'")
			}
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
		Use: "list", Short: "the schedules", Example: "  assay schedule list",
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
			return a.printSchedules(page.Items)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return c
}

func (a *app) printSchedules(all []scheduleView) error {
	if len(all) == 0 {
		fmt.Fprintln(a.stderr, "no schedule yet; `assay schedule add` makes one")
		return nil
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tWHEN\tSTATE\tLAST RUN\tNAME")
	for _, s := range all {
		state := "on"
		if !s.Enabled {
			state = "paused"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", s.ID, s.Cron, state, cmp.Or(s.LastRun, "-"), fault.Printable(s.Name))
	}
	return w.Flush()
}

func (a *app) scheduleRemove() *cobra.Command {
	return &cobra.Command{
		Use: "rm ID", Short: "remove a schedule; its runs stay", Args: arg.One("the id of a schedule"), Example: "  assay schedule rm 3f9a2c1b",
		RunE: func(c *cobra.Command, args []string) error {
			d, err := a.findDaemon()
			if err != nil {
				return err
			}
			return d.Call(c.Context(), http.MethodDelete, "/schedules/"+url.PathEscape(args[0]), nil, nil)
		},
	}
}

func (a *app) scheduleRun() *cobra.Command {
	return &cobra.Command{
		Use: "run ID", Short: "queue a schedule's plan now", Args: arg.One("the id of a schedule"), Example: "  assay schedule run 3f9a2c1b",
		RunE: func(c *cobra.Command, args []string) error {
			d, err := a.findDaemon()
			if err != nil {
				return err
			}
			var run runView
			if err := d.Call(c.Context(), http.MethodPost, "/schedules/"+url.PathEscape(args[0])+"/run", nil, &run); err != nil {
				return err
			}
			_, err = fmt.Fprintln(a.stdout, run.ID)
			return err
		},
	}
}
