package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"assay/cmd/assay/arg"
	"assay/fault"
	"assay/report"
	"assay/result"
	"assay/store"
)

func (a *app) showCommand() *cobra.Command {
	var asJSON, commands bool
	c := &cobra.Command{
		Use: "show RUN", Short: "one run: its table, its verdict, where its report is", Args: arg.One(arg.Run), ValidArgsFunction: a.completeRun,
		Long:    "RUN is an id, an unambiguous prefix of one, or `last`.",
		Example: "  assay show last\n  assay show last --command\n  assay show 20261130T2 --json",
		RunE: func(c *cobra.Command, args []string) error {
			if asJSON && commands {
				return usage("--command and --json are two forms; ask for one of them")
			}
			return a.withRun(c.Context(), args[0], func(st *store.Store, run store.Run) error {
				if err := a.hasEnded(run); err != nil {
					return err
				}
				out, err := readOutcome(c.Context(), st, run.ID)
				if err != nil {
					return err
				}
				if commands {
					return a.showCommands(out.result)
				}
				return a.show(out, asJSON)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "the result document on stdout")
	c.Flags().BoolVar(&commands, "command", false, "only the command lines that start its servers and routers again, for a shell")
	return c
}

// showCommands writes the command lines of what a run started, as they can be copied.
func (a *app) showCommands(r result.Result) error {
	text := report.Commands(r)
	if text == "" {
		return fault.New(fault.Store, "nothing_started", "`assay show "+r.Run.ID+"` tells what it measured", "run %s started no server: it measured one that was there, or ended before", r.Run.ID)
	}
	_, err := fmt.Fprint(a.stdout, fault.PrintableLines(text))
	return err
}

// hasEnded refuses to show a run that has no result yet, and says whether one will come.
func (a *app) hasEnded(run store.Run) error {
	if run.State.Ended() {
		return nil
	}
	held, _, err := a.peekLock()
	if err != nil {
		return err
	}
	if !held && run.State == result.Running {
		return fault.New(fault.Store, "interrupted", "go on with `assay run --resume "+run.ID+"`", "run %s was cut off when its program ended, and has no result yet", run.ID)
	}
	return fault.New(fault.Store, "not_ended", "wait for its end; `assay status` tells what runs", "run %s is %s and has no result yet", run.ID, run.State)
}

func readOutcome(ctx context.Context, st *store.Store, id string) (out outcome, err error) {
	if out.raw, err = st.ResultBytes(ctx, id); err != nil {
		return out, err
	}
	out.result, err = result.Decode(out.raw)
	return out, err
}
