package proof

import (
	"assay/probes"
)

// launched holds what the runtime made of a server against what it was asked for.
func launched(r Request) (probes.Check, bool) {
	l := r.Server.Launch
	switch {
	case l == nil:
		return untold("it was not started here")
	case len(l.Differs) > 0:
		return found(probes.CheckWarn, l.Differs, "the runtime did not make of it what was asked for, in %d points", len(l.Differs))
	}
	return found(probes.CheckOK, nil, "it was started as asked for")
}
