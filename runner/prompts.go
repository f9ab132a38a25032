package runner

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"time"

	"assay/fault"
	"assay/plan"
	"assay/runner/dataset"
	"assay/runner/length"
	"assay/runner/load"
	"assay/runner/record"
)

const (
	askingLimit = 3 * time.Minute // for finding out how the server counts
	makingLimit = 5 * time.Minute // for cutting prompts before the load
	mostMade    = 16 << 20        // tokens of the prompts that are held
	mostGuessed = 8192            // prompts of a point whose requests are not known

	mostAsked       = 64 // prompts whose cut is looked for with requests
	mostAskedTokens = 256 << 10
	fewestAsked     = 3
)

// Prepared is what a point found out that the later points of its run need not ask for again. The zero value is ready; it is used by one
// point at a time.
type Prepared struct {
	hashes dataset.Hashes
	rule   *length.Rule
	made   dataset.Source // conversations that were cut before a load
	madeOf int            // their length
	count  int            // how many were wanted
}

// Hasher gives the digest of a dataset's file or folder as a result tells it. What was not changed meanwhile is read once. When ctx ends it gives
// ctx's cause.
func (p *Prepared) Hasher(ctx context.Context) func(path string) (string, error) {
	return func(path string) (string, error) { return p.hashes.Of(ctx, path) }
}

// promptSource is where a point's prompts come from.
type promptSource struct {
	job    Job
	salt   load.Salt
	access load.Target
	known  *Prepared
	data   dataset.Config
	report func(Progress)
	check  *promptCheck
	way    string
	notes  []string
	src    dataset.Source
}

func newPrompts(job Job, cfg load.Config, report func(Progress)) *promptSource {
	p := &promptSource{job: job, salt: cfg.Salt, access: cfg.Targets[0], known: job.Prepared, data: datasetConfig(job), report: report, check: newPromptCheck()}
	if p.known == nil {
		p.known = &Prepared{}
	}
	p.data.Hashes = &p.known.hashes
	return p
}

// counted says that the plan wants prompts of so many tokens.
func (p *promptSource) counted() bool {
	w := p.job.Plan.Workload
	return w.Lengths == "tokens" && (w.Kind == "trace" || p.data.InputLen > 0)
}

// open gives the source of prompts for which nobody needs be asked, and else has cfg ask once the load can. A large file is hashed here,
// where that can be interrupted.
func (p *promptSource) open(ctx context.Context, cfg *load.Config) error {
	if p.counted() {
		cfg.Prepare = p.prepare
		if p.data.Path == "" {
			return nil
		}
		_, err := p.known.Hasher(ctx)(p.data.Path) // before anything of the point is begun
		return err
	}
	var err error
	p.src, err = dataset.Open(ctx, p.data)
	return err
}

// Next gives the next conversation.
func (p *promptSource) Next() (dataset.Conversation, error) {
	c, err := p.src.Next()
	if err == nil && p.way != "" {
		p.check.expect(c, p.data)
	}
	return c, err
}

// Stats tells of what was read; nothing before the source is open.
func (p *promptSource) Stats() dataset.Stats {
	if p.src == nil {
		return dataset.Stats{}
	}
	return p.src.Stats()
}

// told says how lengths were made and how they came out.
func (p *promptSource) told() []string {
	notes := slices.Clone(p.notes)
	switch p.way {
	case length.ByIDs:
		notes = append(notes, "prompts have their length as lists of token ids of the server's tokenizer")
	case length.ByTokenizer:
		notes = append(notes, "prompts have their length by the server's tokenizer")
	case length.ByUsage:
		notes = append(notes, "prompts have their length by the server's usage of a few requests")
	}
	l := p.check.found(p.way)
	if l.Far > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d prompts differ by more than %.0f %% from the tokens asked for, the worst by %.1f %%", l.Far, l.Checked, 100*farShare, 100*l.Worst))
	}
	return notes
}

// close closes the data's file, which was only read.
func (p *promptSource) close() {
	if file, ok := p.src.(io.Closer); ok {
		_ = file.Close()
	}
}

// prepare finds out how the server counts and opens the source accordingly.
func (p *promptSource) prepare(ctx context.Context, ask load.Ask) (dataset.Source, load.Salt, error) {
	server, hangUp := p.server()
	defer hangUp()
	cfg := length.Config{Server: server, Ask: asking(ask), IDs: p.takesIDs(), System: p.data.System, Salt: p.salt.Kind, Text: p.salt.Text}
	rule, err := p.rule(ctx, cfg)
	if err != nil {
		return nil, load.Salt{}, err
	}
	p.way, p.notes = rule.Way, rule.Notes
	p.data.Vocabulary = rule.Vocabulary
	if err := p.tooShort(); err != nil {
		return nil, load.Salt{}, err
	}
	cut := rule.Cutter(ctx, cfg)
	p.src, err = p.cut(ctx, cut)
	switch {
	case ctx.Err() != nil:
		return nil, load.Salt{}, context.Cause(ctx)
	case err != nil:
		return nil, load.Salt{}, err
	}
	salt := p.salt
	salt.Pieces, salt.Size, salt.Fixed = rule.Pieces, rule.Size, rule.Fixed
	return p, salt, nil
}

// tooShort says that no prompt can have the wanted length.
func (p *promptSource) tooShort() error {
	around := p.data.Vocabulary.Overhead
	if p.data.Kind == "trace" || p.data.InputLen > around { // the lengths of a trace differ
		return nil
	}
	hint := "ask for at least %d (bench: --input-len %d); a plan may also leave the salt out with workload.salt: none, or count words with workload.lengths: words"
	return fault.New(fault.Preflight, "input_length", fmt.Sprintf(hint, around+1, around+1),
		"no prompt can have %d tokens: what the server puts around one, and the salt, are %d", p.data.InputLen, around)
}

// rule finds out how the server counts, once for all points of a run.
func (p *promptSource) rule(ctx context.Context, cfg length.Config) (length.Rule, error) {
	if p.known.rule != nil {
		return *p.known.rule, nil
	}
	limited, cancel := context.WithTimeout(ctx, askingLimit)
	defer cancel()
	rule, err := findRule(limited, cfg, p.report)
	switch {
	case ctx.Err() != nil:
		return rule, context.Cause(ctx)
	case err != nil:
		rule = length.Unknown(fmt.Sprintf("the server did not say within %s how it counts", askingLimit))
	}
	p.known.rule = &rule
	return rule, nil
}

// cut opens the source. Texts that the server's tokenizer cuts are cut before the load, which that would disturb.
func (p *promptSource) cut(ctx context.Context, cut dataset.Cutter) (dataset.Source, error) {
	if cut == nil || p.data.Kind != "text" && p.data.Kind != "sharegpt" {
		return dataset.Open(ctx, p.data)
	}
	need := promptsNeeded(p.job, p.data.InputLen)
	if p.way == length.ByUsage { // each cut takes a few requests
		need = min(need, mostAsked, max(fewestAsked, mostAskedTokens/p.data.InputLen))
	}
	if known := p.known; known.madeOf == p.data.InputLen && known.count >= need {
		return dataset.Again(known.made), nil
	}
	p.data.Cut = cut
	from := time.Now()
	p.data.Ahead = func(made int) bool {
		p.report(Progress{Stage: "prompts", Elapsed: time.Since(from), Done: made, Wanted: need})
		if made < need && time.Since(from) > makingLimit {
			p.notes = append(p.notes, fmt.Sprintf("only %d of %d prompts could be cut in %s", made, need, makingLimit))
			return false
		}
		return made < need && ctx.Err() == nil
	}
	src, err := dataset.Open(ctx, p.data)
	if errors.Is(err, length.ErrCut) && ctx.Err() == nil {
		return p.cutWords(ctx, err)
	}
	if err == nil && ctx.Err() == nil {
		p.known.made, p.known.madeOf, p.known.count = src, p.data.InputLen, need
	}
	return src, err
}

// cutWords opens the source with prompts of so many words, where the server did not say how many tokens they have.
func (p *promptSource) cutWords(ctx context.Context, why error) (dataset.Source, error) {
	p.way, p.data.Cut, p.data.Ahead = length.ByWords, nil, nil
	p.notes = append(p.notes, fmt.Sprintf("texts were cut to so many words instead of tokens: %v", why))
	return dataset.Open(ctx, p.data)
}

// takesIDs says that prompts may be lists of token ids.
func (p *promptSource) takesIDs() bool {
	w := p.job.Plan.Workload
	return p.job.Plan.Server.Endpoint == "completions" && (w.Turns <= 1 || w.Kind != "synthetic")
}

// promptsNeeded is how many different prompts a point can use, as far as that is known and they can be held.
func promptsNeeded(job Job, tokens int) int {
	need := 0
	switch p, point := job.Plan.Protocol, job.Point; {
	case p.Sweep != nil && p.Sweep.Requests > 0:
		need = p.Sweep.Requests + p.Sweep.Warmup.Requests + 2*point.Concurrency
		if p.Sweep.Warmup.Stable > 0 {
			need += 8 * point.Concurrency // three steps of a request in each slot, and some more
		}
	case p.Serve != nil && p.Serve.Requests > 0:
		need = p.Serve.Requests
	case p.Serve != nil && point.Rate > 0:
		need = int(point.Rate*p.Serve.Duration.Std().Seconds()*1.05) + 1
	case point.Phase == plan.PhaseDecode:
		need = 1 // its streams share it
	case p.Matrix != nil:
		need = max(2, p.Matrix.PrefillRepeats) + 1
		if p.Matrix.PrefillRepeats == 0 {
			need = 32
		}
	default:
		need = min(mostGuessed, max(512, 16*point.Concurrency))
	}
	return max(1, min(need, mostMade/max(1, tokens)))
}

// server is where the point's first server tokenizes. hangUp closes what was opened.
func (p *promptSource) server() (s length.Server, hangUp func()) {
	t := p.access
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{Timeout: askingLimit}).DialContext(ctx, t.Network, t.Address)
		},
		TLSClientConfig: &tls.Config{InsecureSkipVerify: t.Insecure},
	}
	header := http.Header{}
	for name, value := range p.job.Access.Headers {
		header.Set(name, value)
	}
	if p.job.Access.Token != "" {
		header.Set("Authorization", "Bearer "+p.job.Access.Token)
	}
	scheme := "http://"
	if t.TLS {
		scheme = "https://"
	}
	s = length.Server{Client: &http.Client{Transport: transport, CheckRedirect: stay}, URL: scheme + t.Host + t.Prefix, Header: header, Model: p.job.Model}
	return s, transport.CloseIdleConnections
}

// stay follows no redirection: what is asked is this server, and its secrets are for no other.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// asking has a load ask for what package length wants to know.
func asking(ask load.Ask) length.Ask {
	return func(ctx context.Context, prompt dataset.Turn, salt string) (int, error) {
		r, err := ask(ctx, prompt, salt)
		switch {
		case err != nil:
			return 0, err
		case r.Outcome != record.OK:
			return 0, errors.New("a request for one token ended with " + string(r.Outcome) + ": " + r.Error)
		case r.InputTokens <= 0:
			return 0, length.ErrNoUsage
		}
		return int(r.InputTokens), nil
	}
}
