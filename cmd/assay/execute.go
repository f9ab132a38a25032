package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"assay/agent"
	"assay/agent/lock"
	"assay/cmd/assay/follow"
	"assay/fault"
	"assay/plan"
	"assay/report"
	"assay/report/point"
	"assay/result"
	"assay/store"
)

// order is a plan to execute and how.
type order struct {
	plan   plan.Plan
	origin agent.Origin
	resume string // a run to go on with, instead of plan
	json   bool   // the result document on stdout
}

// outcome is what executing an order gave.
type outcome struct {
	raw    []byte // the result document
	result result.Result
}

// perform executes an order, here or by the daemon that holds the data directory, shows it as it goes, and ends with the table
// and the path of the report. Its error carries the exit code of the run.
func (a *app) perform(ctx context.Context, o order) error {
	out, err := a.executeHere(ctx, o)
	if errors.Is(err, lock.ErrHeld) {
		out, err = a.executeThere(ctx, o)
	}
	if err != nil {
		return err
	}
	if err := a.show(out, o.json); err != nil {
		return err
	}
	if code := exitOfRun(out.result.Run); code != exitValid {
		return errExit{code}
	}
	return nil
}

// executeHere executes the order in this process under the lock of the data directory.
func (a *app) executeHere(ctx context.Context, o order) (out outcome, err error) {
	s, holder, err := a.openSession(ctx, "", a.quiet())
	if err != nil {
		if errors.Is(err, lock.ErrHeld) && holder.Socket == "" {
			return out, fault.New(fault.Store, "busy", "wait until it has ended, or choose another directory with --data",
				"the data directory %s is in use by process %d", a.data, holder.PID)
		}
		return out, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.agent.Recover(ctx); err != nil {
		return out, err
	}
	id, err := a.enter(ctx, s, o)
	if err != nil {
		return out, err
	}
	watch, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	events, err := s.agent.Events(watch, 0, "")
	if err != nil {
		return out, err
	}
	followed := make(chan struct{})
	go func() { a.follow(events, id); close(followed) }()
	out.result, err = s.agent.Execute(ctx, id)
	if err != nil {
		stop()
	}
	<-followed
	if err != nil {
		return out, err
	}
	out.raw, err = s.store.ResultBytes(watch, id)
	return out, err
}

// follow shows the events of a run until it ends or the channel closes.
func (a *app) follow(events <-chan result.Event, run string) {
	follow.Screen{Out: a.stderr, Now: a.now, Terminal: a.terminal, Columns: a.columns}.Events(events, run)
}

// enter queues the order's plan, or finds the run to resume.
func (a *app) enter(ctx context.Context, s *session, o order) (string, error) {
	if o.resume == "" {
		run, err := s.agent.Submit(ctx, o.plan, "", o.origin)
		return run.ID, err
	}
	run, err := findToResume(ctx, s.store, o.resume)
	return run.ID, err
}

// findToResume finds a run that can go on.
func findToResume(ctx context.Context, st *store.Store, ref string) (store.Run, error) {
	run, err := st.FindRun(ctx, ref)
	if err != nil {
		return run, err
	}
	if run.State == result.Done {
		return run, fault.New(fault.Plan, "run_done", "run the plan again for a new result", "run %s is done: there is nothing to resume", run.ID)
	}
	return run, nil
}

// show prints the result: the document for programs, or the table and where the report is for people.
func (a *app) show(out outcome, asJSON bool) error {
	if asJSON {
		_, err := a.stdout.Write(out.raw)
		return err
	}
	r := out.result
	report.Table(a.stdout, r)
	a.showEnd(a.stdout, r)
	return nil
}

func (a *app) showEnd(w io.Writer, r result.Result) {
	line := func(name, text string) { fmt.Fprintf(w, "%-8s %s\n", name, fault.Printable(text)) }
	fmt.Fprintln(w)
	line("run", r.Run.ID)
	if by, is := result.DecodeImport(r.Plan); is {
		line("measured", "by "+strings.TrimSpace(by.Import.Tool+" "+by.Import.Version)+", not by assay")
	}
	line("verdict", verdictText(r.Run))
	if e := r.Run.Error; e != nil {
		line("error", e.Error())
		if e.Hint != "" {
			line("hint", e.Hint)
		}
	}
	for _, reason := range r.Run.Reasons {
		line("reason", reason.Text+" ("+reason.Code+")"+evidence(reason))
	}
	for _, p := range r.Points {
		if p.State != result.PointValid {
			continue // the run's reasons tell of it, or its state alone
		}
		for _, reason := range p.Reasons {
			line("listed", point.Label(p)+": "+reason.Text+" ("+reason.Code+")"+evidence(reason))
		}
	}
	for _, note := range slices.Concat(r.Identity.Notes, report.Notes(r)) {
		line("note", note)
	}
	line("report", a.whereReport(r.Run.ID))
}

// whereReport is the file of a run's report, or how to make it where it could not be written.
func (a *app) whereReport(id string) string {
	name := filepath.Join(a.data, "runs", id, result.ReportName)
	if _, err := os.Stat(name); err != nil {
		return "is not there; `assay report " + id + " --format html --out report.html` makes it"
	}
	return name
}

func evidence(r result.Reason) string {
	if r.Evidence == "" {
		return ""
	}
	return ": " + r.Evidence
}

func verdictText(r result.Run) string {
	if r.State == result.Done {
		return r.Verdict
	}
	return fmt.Sprintf("%s (%s)", r.Verdict, r.State)
}
