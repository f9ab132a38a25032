package containers

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"assay/containers/engine"
	"assay/fault"
)

// The stages of readiness, in order, as progress reports them.
const (
	StageProcess = "process up"
	StagePort    = "port open"
	StageHealth  = "health"
	StageModel   = "model listed"
	StageTokens  = "token flows"
)

// ReadyOptions bounds the wait and says what is waited for.
type ReadyOptions struct {
	Timeout   time.Duration // from the call to the first token; 0: ten minutes
	Model     string        // served name; "" takes the first that is listed
	Access    Access
	Endpoint  string // chat | completions; "" is chat
	transport http.RoundTripper
}

const (
	defaultTimeout = 10 * time.Minute
	pollInterval   = 100 * time.Millisecond
	// patience is how long an answer that no loading server gives is borne before it is taken for the last word.
	patience = 15 * time.Second
)

// Ready waits until a token flows: process up → port → health → model listed → one real streamed request. It fails at once when
// the instance ends, and says which stage was reached and what was answered last when the time is up.
func Ready(ctx context.Context, inst Instance, p Preset, opt ReadyOptions, progress func(stage string)) (Identity, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, cmp.Or(opt.Timeout, defaultTimeout), errLate)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go watch(ctx, inst, stop)
	var each []Identity
	for _, base := range inst.BaseURLs() {
		w := newWaiter(inst, base, p, opt)
		id, err := w.wait(ctx, progress)
		if err != nil {
			return Identity{}, err
		}
		each, opt.Model = append(each, id), w.opt.Model // where it was left open, all serve what the first one lists
	}
	return together(inst.Identity(), each), nil
}

// wait passes the stages of one server.
func (w *waiter) wait(ctx context.Context, progress func(stage string)) (Identity, error) {
	for _, s := range w.stages() {
		progress(s.name)
		if err := w.pass(ctx, s); err != nil {
			return Identity{}, err
		}
	}
	return w.identity(ctx), nil
}

var errLate = errors.New("the time for readiness is up")

// ended is the cause of a wait that an exit cut short.
type ended struct{ exit Exit }

func (e ended) Error() string { return e.exit.Reason }

// stage is one step: try says whether it is passed and, if not yet, what was seen. An error ends the wait.
type stage struct {
	name string
	try  func(ctx context.Context) (passed bool, seen string, err error)
}

// waiter is one wait for the readiness of one server.
type waiter struct {
	inst   Instance
	base   string // its base URL
	preset engine.Preset
	opt    ReadyOptions
	layer  fault.Layer
	ask    engine.Asker
	models []listedModel
	wrong  time.Time // since when the server gives an answer that no loading server gives
	tries  int       // token requests that failed though the server answered
}

func newWaiter(inst Instance, base string, p Preset, opt ReadyOptions) *waiter {
	if opt.transport == nil {
		opt.transport = engine.NewTransport(base, opt.Access)
	}
	layer := layerOf(inst.Identity().Role)
	return &waiter{inst: inst, base: base, preset: p, opt: opt, layer: layer, ask: engine.Asker{Base: base, Access: opt.Access, Transport: opt.transport}}
}

func (w *waiter) stages() []stage {
	s := []stage{{StageProcess, w.process}, {StagePort, w.port}}
	if w.preset.HealthPath != "" {
		s = append(s, stage{StageHealth, w.health})
	}
	return append(s, stage{StageModel, w.model}, stage{StageTokens, w.tokens})
}

// watch ends the wait when the instance does.
func watch(ctx context.Context, inst Instance, stop context.CancelCauseFunc) {
	select {
	case e, ok := <-inst.Exited():
		if !ok { // somebody else has taken the value
			e, _ = inst.Stop(ctx)
		}
		stop(ended{e})
	case <-ctx.Done():
	}
}

// pass tries a stage until it is passed.
func (w *waiter) pass(ctx context.Context, s stage) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	w.wrong = time.Time{}
	seen := ""
	for {
		passed, now, err := s.try(ctx)
		if ctx.Err() != nil {
			return w.cut(ctx, s, cmp.Or(seen, now))
		}
		if passed || err != nil {
			return err
		}
		seen = now
		select {
		case <-tick.C:
		case <-ctx.Done():
			return w.cut(ctx, s, seen)
		}
	}
}

// cut is the error of a wait that was cut short: by an exit, by the time, or by the caller.
func (w *waiter) cut(ctx context.Context, s stage, seen string) error {
	var e ended
	cause := context.Cause(ctx)
	switch {
	case errors.As(cause, &e):
		return ExitFault(w.inst, e.exit)
	case errors.Is(cause, errLate):
		return fault.New(w.layer, "not_ready", w.whatToDo(),
			"%s was not ready within %s: waiting for %q, last answer: %s", w.who(), cmp.Or(w.opt.Timeout, defaultTimeout), s.name, cmp.Or(seen, "none"))
	}
	return fmt.Errorf("wait for %s: %w", w.who(), context.Cause(ctx))
}

// whatToDo about a server that does not get ready: one that assay started has a log, another has only its address.
func (w *waiter) whatToDo() string {
	if w.inst.LogPath() == "" {
		return "is the address right? does it answer GET " + w.base + cmp.Or(w.preset.HealthPath, w.preset.ModelsPath) + "?"
	}
	return "look at its log; a longer server.ready.timeout helps only if it was still loading"
}

func (w *waiter) who() string {
	return fmt.Sprintf("the %s at %s", w.layer, w.base)
}

func (w *waiter) process(context.Context) (bool, string, error) { return true, "", nil }

func (w *waiter) port(ctx context.Context) (bool, string, error) {
	network, address, err := engine.Address(w.base)
	if err != nil {
		return false, "", err
	}
	if _, real := w.opt.transport.(*http.Transport); !real {
		return true, "", nil
	}
	d := net.Dialer{Timeout: engine.Timeout}
	c, err := d.DialContext(ctx, network, address)
	if err != nil {
		return false, w.ask.Failed(err).String(), nil
	}
	return true, "", c.Close()
}

func (w *waiter) health(ctx context.Context) (bool, string, error) {
	r := w.ask.Get(ctx, w.preset.HealthPath)
	if r.Err == nil && r.Status == http.StatusOK {
		return true, "", nil
	}
	seen := fmt.Sprintf("%s answered %s", w.preset.HealthPath, r)
	if err := w.refused(r); err != nil {
		return false, seen, err
	}
	if r.Err == nil && r.Status == http.StatusNotFound && w.lasting() {
		return false, seen, fault.New(w.layer, "not_ready", "is this address that of a "+w.preset.Name+" server? engine openai waits for a token only",
			"%s has no %s: it answers %s", w.who(), w.preset.HealthPath, r)
	}
	return false, seen, nil
}

// lasting: the wrong answer has been given for longer than a start explains.
func (w *waiter) lasting() bool {
	if w.wrong.IsZero() {
		w.wrong = time.Now()
	}
	return time.Since(w.wrong) >= patience
}

// refused: no waiting makes a wrong token right.
func (w *waiter) refused(r engine.Answer) error {
	if r.Err != nil || (r.Status != http.StatusUnauthorized && r.Status != http.StatusForbidden) {
		return nil
	}
	return fault.New(w.layer, "unauthorized", "set server.token_env to the name of the variable that holds its token", "%s refuses the token: %s", w.who(), r)
}

// listedModel is an entry of /v1/models; not all servers say how long a context may be.
type listedModel struct {
	ID          string   `json:"id"`
	Aliases     []string `json:"aliases"`
	MaxModelLen int64    `json:"max_model_len"`
}

func (w *waiter) model(ctx context.Context) (bool, string, error) {
	r := w.ask.Get(ctx, w.preset.ModelsPath)
	seen := fmt.Sprintf("%s answered %s", w.preset.ModelsPath, r)
	if err := w.refused(r); err != nil {
		return false, seen, err
	}
	if r.Err != nil && !errors.Is(r.Err, engine.ErrTooLarge) || r.Status >= 500 && r.Status != http.StatusNotImplemented {
		return false, seen, nil
	}
	var list struct{ Data []listedModel }
	if r.Status != http.StatusOK || json.Unmarshal(r.Body, &list) != nil || len(list.Data) == 0 {
		if w.opt.Model != "" && (w.preset.HealthPath == "" || w.lasting()) {
			return true, "", nil // not every server lists its models; the token decides
		}
		return false, seen, nil
	}
	w.models = w.taken(list.Data)
	if w.opt.Model == "" {
		w.opt.Model = w.models[0].ID
	}
	return w.listed()
}

// taken is a server's list as it may stand in a result.
func (w *waiter) taken(list []listedModel) []listedModel {
	for i, m := range list {
		list[i].ID = w.ask.HideIn(m.ID)
		for j, alias := range m.Aliases {
			m.Aliases[j] = w.ask.HideIn(alias)
		}
	}
	return list
}

func (w *waiter) listed() (bool, string, error) {
	var ids []string
	if w.preset.AnyModel {
		return true, "", nil
	}
	for _, m := range w.models {
		if m.ID == w.opt.Model || slices.Contains(m.Aliases, w.opt.Model) {
			return true, "", nil
		}
		ids = append(ids, m.ID)
	}
	return false, "", fault.New(w.layer, "wrong_model", "set model.served to a name that it serves, or measure another server",
		"%s does not serve %q but %s", w.who(), w.opt.Model, strings.Join(ids, ", "))
}

// identity is what the runtime knows and what the server says of itself.
func (w *waiter) identity(ctx context.Context) Identity {
	i := w.inst.Identity()
	if i.Runtime == (endpoint{}).Name() {
		i.Name = w.base
	}
	for _, m := range w.models {
		i.Models = append(i.Models, m.ID)
		if m.ID == w.opt.Model || slices.Contains(m.Aliases, w.opt.Model) {
			i.MaxModelLen = m.MaxModelLen
		}
	}
	told := w.preset.Describe(ctx, w.ask)
	i.Quantization, i.DType = w.ask.HideIn(told.Quantization), w.ask.HideIn(told.DType)
	i.Version, i.KVTokens, i.MaxModelLen = w.ask.HideIn(told.Version), told.KVTokens, cmp.Or(told.MaxModelLen, i.MaxModelLen)
	return i
}
