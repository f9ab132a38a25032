package containers

import (
	"strings"

	"assay/fault"
)

// Runtimes are the ways to start something, in the order they are listed.
func Runtimes() []Runtime {
	return []Runtime{docker{socket: DefaultSocket}, process{}, endpoint{}}
}

// RuntimeNamed finds a runtime.
func RuntimeNamed(name string) (Runtime, error) {
	for _, r := range Runtimes() {
		if r.Name() == name {
			return r, nil
		}
	}
	return nil, fault.New(fault.Plan, "runtime_unknown", "write one of "+strings.Join(names(Runtimes()), ", "), "runtime %q is not known", name)
}

func names(rs []Runtime) []string {
	var out []string
	for _, r := range rs {
		out = append(out, r.Name())
	}
	return out
}

// layerOf is where a failure of what has this role is reported.
func layerOf(role string) fault.Layer {
	if role == "router" {
		return fault.Router
	}
	return fault.Server
}
