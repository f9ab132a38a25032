package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"assay/fault"
	"assay/report/figure"
	"assay/result"
	"assay/store"
)

// runRow is one run in `assay runs --json`.
type runRow struct {
	ID         string       `json:"id"`
	Name       string       `json:"name"`
	State      result.State `json:"state"`
	Verdict    string       `json:"verdict,omitempty"`
	CreatedUS  int64        `json:"created_us"`
	EndedUS    int64        `json:"ended_us,omitempty"`
	Points     int          `json:"points"`
	PointsDone int          `json:"points_done"`
	BestTPS    *float64     `json:"best_system_tps"`
	BestPoint  string       `json:"best_point,omitempty"`
	PlanSHA256 string       `json:"plan_sha256"`
}

func (a *app) runsCommand() *cobra.Command {
	var asJSON bool
	var limit int
	c := &cobra.Command{
		Use: "runs", Short: "the runs, newest first", Example: "  assay runs\n  assay runs --limit 5 --json",
		RunE: func(c *cobra.Command, _ []string) error {
			if limit < 1 {
				return usage("--limit %d: write a whole number of at least 1", limit)
			}
			return a.runs(c.Context(), limit, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	c.Flags().IntVar(&limit, "limit", 50, "how many at most")
	return c
}

func (a *app) runs(ctx context.Context, limit int, asJSON bool) (err error) {
	st, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	runs, _, err := st.Runs(ctx, store.Filter{Limit: limit})
	if err != nil {
		return err
	}
	held, _, err := a.peekLock()
	if err != nil {
		return err
	}
	for i := range runs {
		if runs[i].State == result.Running && !held {
			runs[i].State = result.Interrupted // the next start writes it down
		}
	}
	if asJSON {
		rows := make([]runRow, 0, len(runs))
		for _, r := range runs {
			rows = append(rows, rowOf(r))
		}
		return json.NewEncoder(a.stdout).Encode(map[string]any{"items": rows})
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RUN\tNAME\tSTATE\tVERDICT\tPOINTS\tBEST\tCREATED")
	for _, r := range runs {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d/%d\t%s\t%s\n", r.ID, fault.Printable(r.Name), r.State, r.Verdict, r.PointsDone, r.Points, best(r), at(r.CreatedUS))
	}
	return w.Flush()
}

func rowOf(r store.Run) runRow {
	return runRow{ID: r.ID, Name: r.Name, State: r.State, Verdict: r.Verdict, CreatedUS: r.CreatedUS, EndedUS: r.EndedUS,
		Points: r.Points, PointsDone: r.PointsDone, BestTPS: r.BestTPS, BestPoint: r.BestPoint, PlanSHA256: r.PlanSHA256}
}

func best(r store.Run) string {
	if r.BestTPS == nil {
		return "-"
	}
	return figure.Measure(*r.BestTPS) + " tok/s at " + r.BestPoint
}

func at(us int64) string { return time.UnixMicro(us).Format("2006-01-02 15:04:05") }
