package arg

import (
	"strings"

	"github.com/spf13/cobra"

	"assay/fault"
	"assay/plan/spelling"
)

// One wants exactly one argument and says what it is when it is missing.
func One(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 1 {
			return nil
		}
		example, _, _ := strings.Cut(strings.TrimSpace(c.Example), "\n")
		if len(args) == 0 {
			return usage("`%s` needs %s; for example: %s", c.CommandPath(), what, example)
		}
		return usage("`%s` takes one argument, %s, not %d; for example: %s", c.CommandPath(), what, len(args), example)
	}
}

// Some wants at least one argument and says what it is when it is missing.
func Some(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return nil
		}
		return One(what)(c, args)
	}
}

// Maybe wants one argument at most.
func Maybe(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < 2 {
			return nil
		}
		return One(what)(c, args)
	}
}

// RefuseWords has every command that says nothing of arguments refuse them.
func RefuseWords(c *cobra.Command) {
	for _, below := range c.Commands() {
		RefuseWords(below)
	}
	if c.Args == nil {
		c.Args = noWords
	}
}

// noWords refuses arguments: of a group of commands they are commands that there are none of, and the nearest one may be meant.
func noWords(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !c.HasAvailableSubCommands() {
		return usage("`%s` takes no argument, and %q is one; see `%s -h`", c.CommandPath(), args[0], c.CommandPath())
	}
	var names []string
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() {
			names = append(names, below.Name())
		}
	}
	return usage("there is no command `%s %s`%s see `%s -h`", c.CommandPath(), args[0], Ending(spelling.Meant(args[0], names)), c.CommandPath())
}

// Ending is what stands between a message's end and what to do: a question has its mark already.
func Ending(said string) string {
	if strings.HasSuffix(said, "?") {
		return said
	}
	return said + ";"
}

// NoneEmpty refuses an option that was given without a value, as an empty variable of a shell gives it: leaving it out would do something else.
func NoneEmpty(c *cobra.Command, flags ...string) error {
	for _, name := range flags {
		if f := c.Flags().Lookup(name); f.Changed && f.Value.String() == "" {
			return usage("--%s is empty: give it a value, or leave it out", name)
		}
	}
	return nil
}

// Apart refuses an option beside others that it would pass over.
func Apart(c *cobra.Command, option string, others ...string) error {
	for _, name := range others {
		if c.Flags().Changed(option) && c.Flags().Changed(name) {
			return usage("--%s and --%s do not go together", option, name)
		}
	}
	return nil
}

// usage is an error of the command line.
func usage(format string, args ...any) error {
	return fault.New(fault.Plan, "usage", "", format, args...)
}

// What the argument of several commands is.
const (
	Run  = "a run: an id, an unambiguous prefix of one, or last"
	Plan = "a plan file"
)
