package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// oneArg wants exactly one argument and says what it is when it is missing.
func oneArg(what string) cobra.PositionalArgs {
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

// someArgs wants at least one argument and says what it is when it is missing.
func someArgs(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return nil
		}
		return oneArg(what)(c, args)
	}
}

// noneEmpty refuses an option that was given without a value, as an empty variable of a shell gives it: leaving it out would do something else.
func noneEmpty(c *cobra.Command, flags ...string) error {
	for _, name := range flags {
		if f := c.Flags().Lookup(name); f.Changed && f.Value.String() == "" {
			return usage("--%s is empty: give it a value, or leave it out", name)
		}
	}
	return nil
}

// apart refuses an option beside others that it would pass over.
func apart(c *cobra.Command, option string, others ...string) error {
	for _, name := range others {
		if c.Flags().Changed(option) && c.Flags().Changed(name) {
			return usage("--%s and --%s do not go together", option, name)
		}
	}
	return nil
}

// What the argument of several commands is.
const (
	aRun  = "a run: an id, an unambiguous prefix of one, or last"
	aPlan = "a plan file"
)
