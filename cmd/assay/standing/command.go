package standing

import (
	"context"
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"assay/result"
)

// Source is where the command gets what it shows.
type Source struct {
	Known    func(context.Context) (result.Node, error)                  // as it was at the last look
	Look     func(ctx context.Context, accept bool) (result.Node, error) // looks now
	Out      io.Writer
	NotReady error // what the command ends with unless the machine takes runs
}

// Command is `assay node`.
func Command(s Source) *cobra.Command {
	var asJSON bool
	show := func(look func(context.Context) (result.Node, error)) func(*cobra.Command, []string) error {
		return func(c *cobra.Command, _ []string) error {
			n, err := look(c.Context())
			if err != nil {
				return err
			}
			return s.show(n, asJSON)
		}
	}
	look := func(accept bool) func(context.Context) (result.Node, error) {
		return func(ctx context.Context) (result.Node, error) { return s.Look(ctx, accept) }
	}
	c := &cobra.Command{
		Use: "node", Short: "whether this machine takes runs", Example: "  assay node\n  assay node check\n  assay node accept", RunE: show(s.Known),
		Long: `Whether this machine takes runs, as it was at the last look: ready; dirty, an accelerator still holds memory of a run that has ended;
unfit, an accelerator that it had is gone or does not answer. Every run looks for itself. Exit 3 unless it is ready.`,
	}
	c.PersistentFlags().BoolVar(&asJSON, "json", false, "one JSON document")
	c.AddCommand(
		&cobra.Command{Use: "check", Short: "look at its accelerators now", Example: "  assay node check", RunE: show(look(false))},
		&cobra.Command{Use: "accept", Short: "take it as it is now: its accelerators are those that answer", Example: "  assay node accept", RunE: show(look(true))})
	return c
}

func (s Source) show(n result.Node, asJSON bool) error {
	if asJSON {
		if err := json.NewEncoder(s.Out).Encode(n); err != nil {
			return err
		}
	} else {
		Text(s.Out, n, true)
	}
	if n.State != result.NodeReady {
		return s.NotReady
	}
	return nil
}
