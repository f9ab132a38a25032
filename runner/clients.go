package runner

import (
	"strings"

	"assay/fault"
	"assay/runner/external"
)

// Clients lists the clients a plan can name: this program's own, and those that are other programs.
func Clients() []Client {
	all := []Client{native{}}
	for _, t := range external.Tools() {
		all = append(all, foreign{t})
	}
	return all
}

// ClientNamed finds the client of a kind.
func ClientNamed(kind string) (Client, error) {
	var known []string
	for _, c := range Clients() {
		if c.Name() == kind {
			return c, nil
		}
		known = append(known, c.Name())
	}
	return nil, fault.New(fault.Plan, "client_unknown", "write one of "+strings.Join(known, ", "), "client.kind %q is not known", kind)
}
