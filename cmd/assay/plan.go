package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"assay/agent"
	"assay/cmd/assay/arg"
	"assay/cmd/assay/pinning"
	"assay/containers"
	"assay/fault"
	"assay/plan"
)

func (a *app) planCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "plan", Short: "write, check and pin plans",
		Example: "  assay plan init --protocol sweep > plan.yaml\n  assay plan validate plan.yaml\n  assay plan pin plan.yaml --out pinned.yaml",
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.planInit(), a.planValidate(), a.planShow(), a.planPin(), a.planSchema())
	return c
}

func (a *app) planInit() *cobra.Command {
	var protocol, out string
	c := &cobra.Command{
		Use: "init", Short: "write an example of a protocol: " + strings.Join(plan.Examples(), ", "),
		Example: "  assay plan init --protocol serve --out plan.yaml",
		RunE: func(*cobra.Command, []string) error {
			b, err := plan.Example(protocol)
			if err != nil {
				return err
			}
			return a.writeNew(out, b)
		},
	}
	c.Flags().StringVar(&protocol, "protocol", "sweep", strings.Join(plan.Examples(), ", "))
	offer(c, "protocol", plan.Examples())
	c.Flags().StringVar(&out, "out", "", "write to a new `FILE` instead of standard output")
	return c
}

// writeNew writes to standard output, or to a file that must not exist yet.
func (a *app) writeNew(name string, b []byte) error {
	if name == "" {
		_, err := a.stdout.Write(b)
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		hint := "choose a folder that is there and that you may write to"
		if errors.Is(err, fs.ErrExist) {
			hint = "choose a name that is not there yet"
		}
		return fault.New(fault.Plan, "not_writable", hint, "write %s: %w", name, err)
	}
	if _, err := f.Write(b); err != nil {
		f.Close()
		return fault.New(fault.Plan, "not_writable", "free some space", "write %s: %w", name, err)
	}
	return f.Close()
}

func (a *app) planValidate() *cobra.Command {
	var sets []string
	c := &cobra.Command{
		Use: "validate PLAN", Short: "check a plan", Args: arg.One(arg.Plan), Example: "  assay plan validate plan.yaml",
		RunE: func(c *cobra.Command, args []string) error {
			p, _, err := a.explainedPlan(c.Context(), args[0], sets)
			if err != nil {
				return err
			}
			if err := agent.CheckPlan(p); err != nil {
				return err
			}
			for _, idle := range p.IdleRouters() {
				fmt.Fprintln(a.stderr, "note:", fault.Printable(idle))
			}
			_, err = fmt.Fprintf(a.stdout, "%s is valid: %d points, sha256 %s\n", args[0], len(p.Points()), p.Hash())
			return err
		},
	}
	c.Flags().StringArrayVar(&sets, "set", nil, "set a key of the plan first, `path=value` (repeatable)")
	return c
}

func (a *app) planShow() *cobra.Command {
	var sets []string
	var asJSON bool
	c := &cobra.Command{
		Use: "show PLAN", Short: "the plan with its defaults, its points and its hash", Args: arg.One(arg.Plan), Example: "  assay plan show plan.yaml --json",
		RunE: func(_ *cobra.Command, args []string) error {
			p, _, err := readPlan(args[0], sets)
			if err != nil {
				return err
			}
			if asJSON {
				_, err = a.stdout.Write(p.Canonical())
				return err
			}
			var ids []string
			for _, pt := range p.Points() {
				ids = append(ids, pt.ID)
			}
			_, err = fmt.Fprintf(a.stdout, "# sha256 %s\n# points %s\n%s", p.Hash(), strings.Join(ids, " "), p.YAML())
			return err
		},
	}
	c.Flags().StringArrayVar(&sets, "set", nil, "set a key of the plan first, `path=value` (repeatable)")
	c.Flags().BoolVar(&asJSON, "json", false, "the canonical form: the bytes that are hashed")
	return c
}

func (a *app) planSchema() *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "the JSON Schema of plans, for editors", Example: "  assay plan schema > assay-plan.schema.json",
		RunE: func(*cobra.Command, []string) error {
			_, err := a.stdout.Write(plan.Schema())
			return err
		},
	}
}

func (a *app) planPin() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use: "pin PLAN", Short: "tags → digests, files → SHA-256", Args: arg.One(arg.Plan),
		Long:    "Ask the registries which digest each image tag has now, hash the dataset, and write the plan with both: with its defaults, without its comments.",
		Example: "  assay plan pin plan.yaml --out pinned.yaml",
		RunE: func(c *cobra.Command, args []string) error {
			loose, dir, err := readPlan(args[0], []string{"allow_unpinned=true"})
			if err != nil {
				return err
			}
			sets, err := pinning.Sets(c.Context(), loose, dir, a.localImage, a.stderr)
			if err != nil {
				return err
			}
			p, _, err := readPlan(args[0], append(sets, "allow_unpinned=false"))
			if err != nil {
				return err
			}
			return a.writeNew(out, p.YAML())
		},
	}
	c.Flags().StringVar(&out, "out", "", "write to a new `FILE` instead of standard output")
	return c
}

func (a *app) localImage(ctx context.Context, tag string) string {
	return containers.LocalImage(ctx, containers.FindDocker(a.docker, a.getenv), tag)
}

// explainedPlan is readPlan with what the tags that it refuses name now.
func (a *app) explainedPlan(ctx context.Context, name string, sets []string) (plan.Plan, string, error) {
	p, dir, err := readPlan(name, sets)
	return p, dir, pinning.Explain(ctx, err, a.localImage, func() (plan.Plan, error) {
		p, _, err := readPlan(name, append(sets, "allow_unpinned=true"))
		return p, err
	})
}
