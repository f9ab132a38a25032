package agent

import (
	"fmt"
	"path/filepath"

	"assay/agent/allow"
	"assay/agent/secrets"
	"assay/plan"
)

// Permit tells whether a plan that the API got may be kept: Submit would not refuse it.
func (c Config) Permit(p plan.Plan, guest bool) error {
	return c.accept(p, Origin{Source: FromAPI, Guest: guest})
}

// accept refuses a plan that no run could be made of, at this time or any other: what may change until it begins is looked at then.
func (c Config) accept(p plan.Plan, from Origin) error {
	if _, err := c.admit(p, from); err != nil {
		return err
	}
	return CheckPlan(p)
}

// admit gives a plan with its file names made absolute, and refuses one that holds a secret, or comes from the network and wants more than it
// may have.
func (c Config) admit(p plan.Plan, from Origin) (plan.Plan, error) {
	p, err := from.resolve(p)
	if err == nil && from.Guest {
		err = c.allowed(p)
	}
	if err != nil {
		return p, err
	}
	return p, secrets.Refuse(p, c.Token)
}

func (c Config) allowed(p plan.Plan) error {
	list := allow.Default()
	if c.Allow != nil {
		list = *c.Allow
	}
	data, err := filepath.Abs(c.Store.Dir())
	if err != nil {
		return fmt.Errorf("find the data directory: %w", err)
	}
	closed := append([]allow.Place{{Path: data, Is: "the data directory, with all results and the key that signs them"}}, c.Closed...)
	if socket := c.Docker.Path(); socket != "" {
		closed = append(closed, allow.Place{Path: socket, Is: "the container engine's socket"})
	}
	return allow.Check(list, p, allow.Machine{Closed: closed, Resolve: filepath.EvalSymlinks})
}
