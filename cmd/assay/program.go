package main

import (
	"cmp"
	"runtime"
	"runtime/debug"

	"assay/probes"
)

// version is set at release by -ldflags "-X main.version=…".
var version = "dev"

// commit is set likewise by the Makefile; without it the Go tool's own stamp is used.
var commit = ""

// program names this build: version, commit (with "+dirty" for a changed tree) and Go version.
func program() probes.Program {
	p := probes.Program{Version: version, Commit: "unknown", Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if commit != "" || !ok {
		p.Commit = cmp.Or(commit, p.Commit)
		return p
	}
	dirty := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			p.Commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+dirty"
		}
	}
	p.Commit += dirty
	return p
}
