package agent

import (
	"context"

	"assay/agent/secrets"
	"assay/plan"
	"assay/redact"
)

// Redactor hides the secrets of a run that is being executed, whose programs write their logs themselves; nil of every other run: what has
// ended was swept, or is withheld.
func (a *Agent) Redactor(run string) *redact.Redactor {
	if h := a.hide.Load(); h != nil && h.Run == run {
		return h.By()
	}
	return nil
}

// known are the values of the secrets that a run's plan names, as far as they are at hand: as they are now, and as its programs got them from
// this one. An import has no plan of ours.
func (a *Agent) known(ctx context.Context, id string) (known []redact.Secret, err error) {
	if h := a.hide.Load(); h != nil && h.Run == id {
		known = append(known, h.Known...)
	}
	run, err := a.Store.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	p, err := plan.Parse(run.Plan)
	if err != nil {
		return known, nil
	}
	var from Origin
	if err := a.readDocument(ctx, id, docOrigin, &from); err != nil {
		return nil, err
	}
	if p, err = from.resolve(p); err != nil {
		return known, nil // it was refused before it began
	}
	return append(known, secrets.Of(p, a.Token)...), nil
}

// sweep takes the secrets that a run's plan names out of its files: programs write their logs themselves, and other clients their results.
// It is done before files are indexed, also for a run whose program was killed.
func (a *Agent) sweep(ctx context.Context, id string) error {
	known, err := a.known(ctx, id)
	if err != nil {
		return err
	}
	return secrets.Sweep(ctx, a.Store, id, known)
}
