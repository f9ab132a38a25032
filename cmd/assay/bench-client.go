package main

import (
	"github.com/spf13/cobra"

	"assay/cmd/assay/ceiling"
	"assay/cmd/assay/output"
	"assay/fault"
)

func (a *app) benchClientCommand() *cobra.Command { return ceiling.Command(a.ceilingOutside()) }

// ceilingOutside is what measuring the client touches of the world.
func (a *app) ceilingOutside() ceiling.Outside {
	return ceiling.Outside{
		Stdout: a.stdout, Stderr: a.stderr, Program: a.executable, Version: version, Usage: usage, Failed: errExit{exitNotValid},
		Write:    func(name string, b []byte) error { return output.Write(fault.Client, name, output.Bytes(b)) },
		Writable: func(name string) error { return output.Writable(fault.Client, name) },
	}
}
