package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"assay/cmd/assay/arg"
	"assay/cmd/assay/flagerror"
	"assay/fault"
	"assay/plan"
	"assay/result"
)

// Exit codes of the contract.
const (
	exitValid       = 0
	exitNotValid    = 1
	exitUsage       = 2
	exitPreflight   = 3
	exitInfra       = 4
	exitInterrupted = 130
)

// app is everything a command may touch of the world outside; tests make their own.
type app struct {
	stdout, stderr io.Writer
	getenv         func(string) string
	executable     string
	now            func() time.Time
	euid           int
	terminal       bool // stderr is a terminal that can rewrite a line
	columns        int  // of that terminal

	hurry chan struct{} // closed at the second signal
	holds atomic.Bool   // this process holds the data directory: it may have started something

	data   string // --data
	docker string // --docker-host
	began  bool   // the command line was understood
}

// errExit carries an exit code through cobra for an outcome that was already told.
type errExit struct{ code int }

// Error is never shown.
func (e errExit) Error() string { return fmt.Sprintf("exit %d", e.code) }

// commands lists every command in the order of the help. To add one: a file with its constructor, and a line here.
func (a *app) commands() []*cobra.Command {
	return []*cobra.Command{
		a.demoCommand(),
		a.benchCommand(),
		a.runCommand(),
		a.probeCommand(),
		a.checkCommand(),
		a.planCommand(),
		a.runsCommand(),
		a.showCommand(),
		a.reportCommand(),
		a.importCommand(),
		a.archiveCommand(),
		a.verifyCommand(),
		a.serveCommand(),
		a.queueCommand(),
		a.scheduleCommand(),
		a.statusCommand(),
		a.nodeCommand(),
		a.simCommand(),
		a.benchClientCommand(),
		a.versionCommand(),
	}
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "assay",
		Short: "measure an inference server so that another person can check and repeat it",
		Long: `assay turns a bare-metal accelerator server into a benchmark result that another person can check and repeat:
it probes the machine, starts the pinned inference server, drives the load, watches power and clocks meanwhile,
stores everything and reports it.`,
		Example:       "  assay demo\n  assay bench http://127.0.0.1:8000 --concurrency 1,2,4,8\n  assay run plan.yaml",
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },

		Version: versionText(),

		PersistentPreRun: func(*cobra.Command, []string) { a.began = true },
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.PersistentFlags().StringVar(&a.data, "data", a.defaultData(), "directory of the database and the files of runs (env ASSAY_DATA)")
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage("%w%s see `%s -h`", flagerror.Plainly(err), arg.Ending(flagerror.Meant(err, c.Flags())), c.CommandPath())
	})
	root.AddCommand(a.commands()...)
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.Example = "  assay completion bash > /etc/bash_completion.d/assay"
		}
	}
	arg.RefuseWords(root)
	return root
}

func (a *app) defaultData() string {
	if dir := a.getenv("ASSAY_DATA"); dir != "" {
		return dir
	}
	if a.euid == 0 {
		return "/var/lib/assay"
	}
	if dir := a.getenv("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "assay")
	}
	return filepath.Join(a.getenv("HOME"), ".local", "share", "assay")
}

// run executes one command line and gives its exit code.
func (a *app) run(ctx context.Context, args []string) int {
	root := a.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitValid
	}
	var told errExit
	if errors.As(err, &told) {
		return told.code
	}
	a.complain(err)
	return a.exitOf(err)
}

// complain shows an error as what failed and what to do.
func (a *app) complain(err error) {
	f := fault.Of(err, fault.Plan)
	if errors.Is(err, context.Canceled) {
		fmt.Fprintln(a.stderr, "assay: interrupted")
		return
	}
	if !isFault(err) {
		fmt.Fprintf(a.stderr, "assay: %s\n", fault.PrintableLines(err.Error()))
		return
	}
	fmt.Fprintf(a.stderr, "assay: %s\n", fault.PrintableLines(f.Error()))
	if f.Hint != "" {
		fmt.Fprintf(a.stderr, "  what to do: %s\n", strings.ReplaceAll(fault.PrintableLines(f.Hint), "\n", "\n  "))
	}
}

func isFault(err error) bool {
	var f *fault.Fault
	return errors.As(err, &f)
}

// usage is an error of the command line.
func usage(format string, args ...any) error {
	return fault.New(fault.Plan, "usage", "", format, args...)
}

// exitOf maps an error to the contract's exit code by its layer. An error without one is cobra's, about the command line, until the
// command begins; after that it is the machine's.
func (a *app) exitOf(err error) int {
	if errors.Is(err, context.Canceled) {
		return exitInterrupted
	}
	without := fault.Plan
	if a.began {
		without = fault.Store
	}
	f := fault.Of(err, without)
	switch f.Code {
	case "store.no_run", "store.ambiguous_run", "store.no_schedule", "store.run_state":
		return exitUsage // the command line names what is not there, or what cannot be done with a run
	}
	return exitOfLayer(f.Layer)
}

func exitOfLayer(l fault.Layer) int {
	switch l {
	case fault.Plan:
		return exitUsage
	case fault.Preflight:
		return exitPreflight
	}
	return exitInfra
}

// exitOfRun maps how a run ended to the contract's exit code.
func exitOfRun(r result.Run) int {
	switch r.State {
	case result.Interrupted, result.Canceled:
		return exitInterrupted
	case result.Failed:
		if r.Error == nil {
			return exitInfra
		}
		return exitOfLayer(r.Error.Layer)
	}
	if r.Verdict != result.Valid {
		return exitNotValid
	}
	return exitValid
}

// readPlan reads a plan file with --set applied; relative names in it begin at its folder.
func readPlan(name string, sets []string) (plan.Plan, string, error) {
	b, err := readLimited(name)
	if err != nil {
		return plan.Plan{}, "", fault.New(fault.Plan, "unreadable", "check the name, and who may read it; `assay plan init` writes an example",
			"cannot read the plan: %w", err)
	}
	dir, err := filepath.Abs(filepath.Dir(name))
	if err != nil {
		return plan.Plan{}, "", fmt.Errorf("find the folder of %s: %w", name, err)
	}
	p, err := plan.ParseSet(b, sets)
	if err != nil {
		return p, dir, fmt.Errorf("%s: %w", name, err)
	}
	return p, dir, nil
}
