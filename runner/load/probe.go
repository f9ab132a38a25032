package load

import (
	"context"
	"slices"
	"strings"

	"assay/runner/dataset"
	"assay/runner/load/salt"
	"assay/runner/load/stream"
	"assay/runner/record"
)

// ProbeSession is the session of the requests that ask what a server takes.
const ProbeSession = "probe"

// Refusal is an optional body field that a server refused, and what it said.
type Refusal struct{ Field, Said string }

// probe asks each server once, with a request of one token, whether it takes the optional body fields, and gives those that one of them
// refuses: they are left out of all requests. Its requests are recorded as warm-up.
func (l *load) probe(ctx context.Context, to *targets) ([]Refusal, error) {
	var refused []Refusal
	for i := range to.clients {
		p := prober{load: l, send: to.only(i)}
		more := p.refused(ctx)
		if p.err != nil {
			return nil, p.err
		}
		for _, r := range more {
			l.cfg.Request.Omit = append(l.cfg.Request.Omit, r.Field)
		}
		refused = append(refused, more...)
	}
	return refused, nil
}

// prober finds the fields that one server refuses. Its err ends the search.
type prober struct {
	*load
	send sender
	said string // what the server answered last, when it refused
	err  error
}

// refused finds the fields: those that the server names, when it takes the rest, else by halves.
func (p *prober) refused(ctx context.Context) []Refusal {
	offered := p.cfg.Request.Offers()
	if p.takes(ctx, offered) {
		return nil
	}
	said := p.said
	if named := namedIn(said, offered); len(named) > 0 && p.takes(ctx, without(offered, named)) {
		return refusals(named, said)
	}
	if !p.takes(ctx, nil) {
		return nil // the reason is another: the requests themselves will show it
	}
	_, refused := p.split(ctx, nil, offered)
	return refused
}

// split parts fields that the server does not take all into those that it takes beside kept, and those that it refuses.
func (p *prober) split(ctx context.Context, kept, fields []string) (taken []string, refused []Refusal) {
	if len(fields) < 2 || p.err != nil {
		return kept, refusals(fields, p.said)
	}
	half := len(fields) / 2
	for _, part := range [][]string{fields[:half], fields[half:]} {
		if all := slices.Concat(kept, part); p.takes(ctx, all) {
			kept = all
			continue
		}
		var more []Refusal
		kept, more = p.split(ctx, kept, part)
		refused = append(refused, more...)
	}
	return kept, refused
}

// takes says whether the server takes a request with these of the offered fields; only 400 and 422 count as a refusal of fields.
func (p *prober) takes(ctx context.Context, fields []string) bool {
	q := p.cfg.Request
	q.Omit = append(slices.Clone(q.Omit), without(q.Offers(), fields)...)
	b, err := q.Encode([]dataset.Message{{Role: "user", Content: "Hello"}}, nil, 1)
	if err != nil || p.err != nil {
		p.err = err
		return false
	}
	r, err := p.ask(ctx, p.send, b, "")
	p.err = err
	if r.Outcome != record.HTTPStatus || r.Status != 400 && r.Status != 422 {
		return true
	}
	p.said = r.Error
	return false
}

// ask sends a request that belongs to no measurement; it is recorded as warm-up.
func (l *load) ask(ctx context.Context, send sender, b stream.Body, salt string) (record.Request, error) {
	now := l.cfg.Clock.Now()
	r, _ := send(ctx, &stream.Call{Index: l.number(), Warmup: true, Session: ProbeSession, Body: b, Salt: salt, IntendedUS: now, DueUS: now})
	return r, l.keeper.Now(r) // nothing else is kept before the load
}

// asker gives what asks one server with prompts of the load's own.
func (l *load) asker(send sender) Ask {
	return func(ctx context.Context, prompt dataset.Turn, before string) (record.Request, error) {
		b, err := encode(l.cfg.Request, prompt.Messages, nil, prompt, 1)
		if err != nil {
			return record.Request{}, err
		}
		return l.ask(ctx, send, b, salt.Escaped(before))
	}
}

// namedIn finds the fields that a refusal names; of one that stands inside another, only that one.
func namedIn(said string, fields []string) []string {
	var named []string
	for _, f := range fields {
		if !strings.Contains(said, f[strings.LastIndexByte(f, '.')+1:]) {
			continue
		}
		named = slices.DeleteFunc(named, func(outer string) bool { return strings.HasPrefix(f, outer+".") })
		named = append(named, f)
	}
	return named
}

// without gives all but some.
func without(all, some []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(f string) bool { return slices.Contains(some, f) })
}

func refusals(fields []string, said string) []Refusal {
	out := make([]Refusal, len(fields))
	for i, f := range fields {
		out[i] = Refusal{f, said}
	}
	return out
}
