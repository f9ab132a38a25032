package load

import (
	"context"
	"slices"

	"assay/runner/dataset"
	"assay/runner/load/stream"
	"assay/runner/record"
)

// ProbeSession is the session of the requests that ask what a server takes.
const ProbeSession = "probe"

// probe asks once, with a request of one token, whether the server takes the optional body fields, and gives those it
// refuses. Its requests are recorded as warm-up.
func (l *load) probe(ctx context.Context, to *targets) ([]string, error) {
	var refused []string
	for i := range to.clients {
		more, err := l.refusedBy(ctx, to.only(i))
		if err != nil {
			return nil, err
		}
		l.cfg.Request.Omit = append(l.cfg.Request.Omit, more...)
		refused = append(refused, more...)
	}
	return refused, nil
}

func (l *load) refusedBy(ctx context.Context, send sender) ([]string, error) {
	offered := slices.DeleteFunc(l.cfg.Request.Offers(), func(f string) bool { return slices.Contains(l.cfg.Request.Omit, f) })
	if ok, err := l.accepts(ctx, send, nil); ok || err != nil {
		return nil, err
	}
	for _, f := range offered {
		if ok, err := l.accepts(ctx, send, []string{f}); ok || err != nil {
			return []string{f}, err
		}
	}
	if ok, err := l.accepts(ctx, send, offered); !ok || err != nil {
		return nil, err // the reason is another: the requests themselves will show it
	}
	return offered, nil
}

// accepts says whether the server takes a request without some fields; only 400 and 422 count as a refusal of fields.
func (l *load) accepts(ctx context.Context, send sender, omit []string) (bool, error) {
	q := l.cfg.Request
	q.Omit = append(slices.Clone(q.Omit), omit...)
	b, err := q.Encode([]dataset.Message{{Role: "user", Content: "Hello"}}, nil, 1)
	if err != nil {
		return false, err
	}
	now := l.cfg.Clock.Now()
	r, _ := send(ctx, &stream.Call{Index: l.number(), Warmup: true, Session: ProbeSession, Body: b, IntendedUS: now, DueUS: now})
	if err := l.tally.keep(r); err != nil {
		return false, err
	}
	return r.Outcome != record.HTTPStatus || r.Status != 400 && r.Status != 422, nil
}

// asker gives what asks one server with prompts of the load's own.
func (l *load) asker(send sender) Ask {
	return func(ctx context.Context, prompt dataset.Turn, salt string) (record.Request, error) {
		b, err := encode(l.cfg.Request, prompt.Messages, nil, prompt, 1)
		if err != nil {
			return record.Request{}, err
		}
		now := l.cfg.Clock.Now()
		r, _ := send(ctx, &stream.Call{Index: l.number(), Warmup: true, Session: ProbeSession, Body: b, Salt: escaped(salt), IntendedUS: now, DueUS: now})
		return r, l.tally.keep(r)
	}
}
