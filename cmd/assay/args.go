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

// What the argument of several commands is.
const (
	aRun  = "a run: an id, an unambiguous prefix of one, or last"
	aPlan = "a plan file"
)
