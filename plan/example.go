package plan

import (
	"embed"
	"strings"

	"assay/fault"
	"assay/plan/spelling"
)

//go:embed examples/*.yaml
var examples embed.FS

// Examples names the protocols that Example has a plan of.
func Examples() []string { return []string{"sweep", "serve", "matrix"} }

// Example gives a commented plan of a protocol that Parse reads.
func Example(protocol string) ([]byte, error) {
	b, err := examples.ReadFile("examples/" + protocol + ".yaml")
	if err != nil {
		return nil, fault.New(fault.Plan, "no_example", "write one of "+strings.Join(Examples(), ", "),
			"no example of protocol %q%s", protocol, spelling.Meant(protocol, Examples()))
	}
	return b, nil
}
