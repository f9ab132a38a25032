package main

import (
	"github.com/spf13/cobra"

	"assay/store"
)

// offered is how many of the newest runs a shell offers.
const offered = 20

// completeRun offers a shell the runs that a command may be asked for.
func (a *app) completeRun(c *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	words := []cobra.Completion{}
	err := a.withStore(c.Context(), func(st *store.Store) error {
		runs, _, err := st.Runs(c.Context(), store.Filter{Limit: offered})
		for i, r := range runs {
			if i == 0 {
				words = append(words, cobra.CompletionWithDesc("last", r.Name))
			}
			words = append(words, cobra.CompletionWithDesc(r.ID, r.Name+", "+string(r.State)))
		}
		return err
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// offer has a shell offer the values of a flag.
func offer(c *cobra.Command, flag string, values []string) {
	_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)) // the flag was made just now
}
