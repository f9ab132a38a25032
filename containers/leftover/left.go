package leftover

import (
	"fmt"
	"time"

	"assay/fault"
)

// Limits of a look after what was left: a broken engine or container must not keep the caller from its other work.
const (
	Ask          = 5 * time.Second
	removal      = 10 * time.Second
	beingCreated = 3 * time.Second // how long after the death of who asked for it a container may still come into being
)

// Search is what to look for after a program was killed.
type Search struct {
	Owner    string
	Expected []Intent                // what its journal holds
	Dir      func(run string) string // folder of a run, where the rest of a container's log goes; nil keeps none
	Runtimes []string                // where to look; nil: everywhere
}

// Left is something that a killed program left.
type Left struct {
	Intent
	State string // how it was found, as a person reads it: "running", "exited with code 3"; "" when it could not be looked for
	Saved string // file in which the rest of its log was saved; "" when there was none
}

// String names it.
func (l Left) String() string {
	what := "process " + l.ID
	if l.Runtime == "docker" {
		what = "container " + l.Name
	}
	if l.Role != "" {
		what += fmt.Sprintf(" (%s of run %s)", l.Role, l.Run)
	}
	return what
}

// Found is what a look gave.
type Found struct {
	Removed []Left
	Stuck   []Left   // still there, or not known to be gone: Trouble says why
	Absent  []Intent // expected, and nothing of it is there
	Foreign []string // containers of other data directories, which are left alone
	Failed  error    // it could not be looked everywhere
}

// Names of what was removed.
func (f Found) Names() []string {
	var out []string
	for _, l := range f.Removed {
		out = append(out, l.String())
	}
	return out
}

// Unknown says of every expected intent that it may still be there.
func Unknown(expected []Intent, why error) (out []Left) {
	for _, i := range expected {
		i.Trouble = why.Error()
		out = append(out, Left{Intent: i})
	}
	return out
}

// Fault refuses to start something beside what could not be removed.
func (l Left) Fault() *fault.Fault {
	hint := "remove it by hand: docker rm --force " + l.Name + "; this program tries again before every run"
	if l.Runtime != "docker" {
		hint = "it may hang in a driver: look at dmesg; a reboot may be needed"
	}
	return fault.New(fault.Server, "leftover", hint, "%s, which an earlier run left, cannot be removed: %s", l, l.Trouble)
}
