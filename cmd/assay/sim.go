package main

import (
	"github.com/spf13/cobra"

	"assay/cmd/assay/engine"
)

func (a *app) simCommand() *cobra.Command {
	return engine.Command(a.stderr, func(code int) error { return errExit{code} })
}
