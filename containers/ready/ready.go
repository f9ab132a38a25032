package ready

import (
	"cmp"
	"context"
	"crypto/tls"
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

// Limits bound a wait. The program's own start comes before it.
type Limits struct {
	All                        time.Duration // from the call to the first token
	Port, Health, Model, Token time.Duration // of a stage; 0: what All leaves
}

// Server is what is waited for.
type Server struct {
	Layer     fault.Layer
	Base      string // base URL
	Preset    engine.Preset
	Access    engine.Access
	Model     string // served name; "" takes the first that is listed
	Endpoint  string // chat | completions; "" is chat
	Transport http.RoundTripper
	Log       *Log          // nil when its log is not ours
	Inside    func() string // says how it is known that the server listens where its port does not lead to, "" when it is not; nil when its port is its own
}

// Stage is a stage that was passed.
type Stage struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
}

// Told is what a server that is ready has told on the way.
type Told struct {
	Model  string // served name
	Models []Model
	Stages []Stage
	Ask    engine.Asker
}

const (
	pollInterval = 100 * time.Millisecond
	slowInterval = 500 * time.Millisecond // once a server takes its time: many log each question
	slowAfter    = 30 * time.Second
	// patience is how long an answer that no loading server gives is borne before it is taken for the last word.
	patience = 15 * time.Second
)

// ErrLate is the cause of a wait whose time is up.
var ErrLate = errors.New("the time for readiness is up")

// Wait passes the stages of one server. When ctx ends with a fault as its cause, that is the error. Progress hears of each stage, and from time to
// time of what one waits for.
func Wait(ctx context.Context, s Server, l Limits, progress func(stage string)) (Told, error) {
	w := &waiter{Server: s, limits: l, ask: engine.Asker{Base: s.Base, Access: s.Access, Transport: s.Transport}, progress: progress}
	var told Told
	for _, stage := range w.stages() {
		progress(stage.name)
		begun := time.Now()
		if err := w.pass(ctx, stage); err != nil {
			return Told{}, err
		}
		told.Stages = append(told.Stages, Stage{stage.name, float64(time.Since(begun).Milliseconds()) / 1000})
	}
	told.Model, told.Models, told.Ask = w.Server.Model, w.models, w.ask
	return told, nil
}

// stage is one step: try says whether it is passed and, if not yet, what was seen. An error ends the wait.
type stage struct {
	name  string
	key   string // of the plan, that bounds it
	limit time.Duration
	try   func(ctx context.Context) (passed bool, seen string, err error)
}

// overstayed is the cause of a stage that took too long.
type overstayed struct{ stage stage }

func (o overstayed) Error() string {
	return "longer than " + o.stage.key + " (" + o.stage.limit.String() + ")"
}

// waiter is one wait for the readiness of one server.
type waiter struct {
	Server
	limits   Limits
	ask      engine.Asker
	progress func(text string)
	models   []Model
	wrong    time.Time // since when the server gives an answer that no loading server gives
	tries    int       // token requests that failed though the server answered
}

func (w *waiter) stages() []stage {
	const section = "server.ready."
	s := []stage{{StageProcess, "", 0, w.process}, {StagePort, section + "port", w.limits.Port, w.port}}
	if w.Preset.HealthPath != "" {
		s = append(s, stage{StageHealth, section + "health", w.limits.Health, w.health})
	}
	return append(s, stage{StageModel, section + "model", w.limits.Model, w.model}, stage{StageTokens, section + "token", w.limits.Token, w.tokens})
}

// pass tries a stage until it is passed.
func (w *waiter) pass(ctx context.Context, s stage) error {
	if s.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, s.limit, overstayed{s})
		defer cancel()
	}
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	w.wrong = time.Time{}
	seen, begun, looked := "", time.Now(), time.Now()
	for {
		passed, now, err := s.try(ctx)
		if over(ctx) {
			return w.cut(ctx, s, cmp.Or(seen, now))
		}
		if passed || err != nil {
			return err
		}
		seen = now
		if time.Since(looked) >= patience {
			looked = time.Now()
			w.progress(fmt.Sprintf("%s: not yet after %s, last answer: %s", s.name, time.Since(begun).Round(time.Second), seen))
			if err := w.outOfReach(); err != nil {
				return err
			}
		}
		if time.Since(begun) > slowAfter {
			tick.Reset(slowInterval)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return w.cut(ctx, s, seen)
		}
	}
}

// over tells whether a wait has ended. A question that the end of the wait cut short comes back a moment before the context says so, and what
// it brings says nothing of the server.
func over(ctx context.Context) bool {
	if end, limited := ctx.Deadline(); limited && !time.Now().Before(end) {
		<-ctx.Done()
	}
	return ctx.Err() != nil
}

// outOfReach is the error of a server that listens on the loopback of its container. Its published port takes connections and drops them,
// or refuses them, for ever: no waiting helps.
func (w *waiter) outOfReach() error {
	if w.Inside == nil {
		return nil
	}
	evidence := w.Inside()
	if evidence == "" {
		return nil
	}
	return fault.New(w.Layer, "loopback_only", "let it listen on 0.0.0.0 inside the container: leave the host out of server.args and server.command, or set it by what the image takes for it; or write server.network: host",
		"%s listens on the loopback inside its container, where the published port does not lead: %s", w.who(), evidence)
}

// cut is the error of a wait that was cut short: by an exit, by a limit, or by the caller. A limit may be shorter than what passes before it is
// looked whether the server can be reached at all, so that is looked at once more.
func (w *waiter) cut(ctx context.Context, s stage, seen string) error {
	cause := context.Cause(ctx)
	var ended *fault.Fault
	if errors.As(cause, &ended) {
		return ended
	}
	late := w.late(cause, s, cmp.Or(seen, "none"))
	if late == nil {
		return fmt.Errorf("wait for %s: %w", w.who(), cause)
	}
	return cmp.Or(w.outOfReach(), late)
}

// late is the fault of a server that was given up, nil when it was not the server that ended the wait.
func (w *waiter) late(cause error, s stage, seen string) error {
	var over overstayed
	var quiet silence
	switch {
	case errors.As(cause, &quiet):
		return fault.New(w.Layer, "no_progress", "look at what it waits for: its CPU, its disk, and "+w.log()+"; server.ready.idle gives more time", "%s does not get on: %w; waiting for %q%s, last answer: %s",
			w.who(), cause, s.name, w.loading(), seen)
	case errors.As(cause, &over):
		return fault.New(w.Layer, "not_ready", w.whatToDo(s), "%s was not ready in time: %q took %w%s, last answer: %s", w.who(), s.name, cause, w.loading(), seen)
	case errors.Is(cause, ErrLate):
		return fault.New(w.Layer, "not_ready", w.whatToDo(s), "%s was not ready within %s: waiting for %q%s, last answer: %s", w.who(), w.limits.All, s.name, w.loading(), seen)
	}
	return nil
}

// loading is what the log told last, as a part of a sentence.
func (w *waiter) loading() string {
	if what := w.Log.loading(); what != "" {
		return ", " + what
	}
	return ""
}

// whatToDo about a server that does not get ready: one that assay started has a log, another has only its address.
func (w *waiter) whatToDo(s stage) string {
	if w.Log == nil {
		return "is the address right? does it answer GET " + w.Base + cmp.Or(w.Preset.HealthPath, w.Preset.ModelsPath) + "?"
	}
	if s.limit > 0 {
		return "look at " + w.log() + "; a longer " + s.key + " helps only if it was still getting there"
	}
	return "look at " + w.log() + "; a longer server.ready.timeout helps only if it was still loading"
}

// log names the log of a server that has one.
func (w *waiter) log() string { return "its log " + w.Log.path }

func (w *waiter) who() string {
	return fmt.Sprintf("the %s at %s", w.Layer, w.Base)
}

func (w *waiter) process(context.Context) (bool, string, error) { return true, "", nil }

// port waits until a connection is taken.
func (w *waiter) port(ctx context.Context) (bool, string, error) {
	network, address, err := engine.Address(w.Base)
	if err != nil {
		return false, "", err
	}
	if _, real := w.Transport.(*http.Transport); !real {
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
	r := w.ask.Get(ctx, w.Preset.HealthPath)
	if r.Err == nil && r.Status == http.StatusOK {
		return true, "", nil
	}
	seen := fmt.Sprintf("%s answered %s", w.Preset.HealthPath, r)
	if err := w.refused(r); err != nil {
		return false, seen, err
	}
	if r.Err == nil && r.Status == http.StatusNotFound && w.lasting() {
		return false, seen, fault.New(w.Layer, "not_ready", "is this address that of a "+w.Preset.Name+" server? engine openai waits for a token only",
			"%s has no %s: it answers %s", w.who(), w.Preset.HealthPath, r)
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

// refused: no waiting makes a wrong token right, nor a certificate that is not trusted.
func (w *waiter) refused(r engine.Answer) error {
	var certificate *tls.CertificateVerificationError
	if errors.As(r.Err, &certificate) {
		return fault.New(w.Layer, "untrusted_certificate", "does the certificate name the host of the address? is it still good by this machine's clock? for one of an authority of your own let SSL_CERT_FILE name its file, or leave the certificate unchecked with client.insecure_tls: true (--insecure of `assay bench`)",
			"the certificate of %s is not trusted: %s", w.who(), r)
	}
	if r.Err != nil || (r.Status != http.StatusUnauthorized && r.Status != http.StatusForbidden) {
		return nil
	}
	if w.Access.Token == "" {
		return fault.New(w.Layer, "unauthorized", "set server.token_env to the name of the variable that holds its token", "%s wants a token, and is sent none: %s", w.who(), r)
	}
	return fault.New(w.Layer, "unauthorized", "is the value of server.token_env or server.token_file the token of this server? is it still good?", "%s refuses the token: %s", w.who(), r)
}

// Model is an entry of /v1/models; not all servers say how long a context may be.
type Model struct {
	ID          string   `json:"id"`
	Aliases     []string `json:"aliases"`
	MaxModelLen int64    `json:"max_model_len"`
}

func (w *waiter) model(ctx context.Context) (bool, string, error) {
	r := w.ask.Get(ctx, w.Preset.ModelsPath)
	seen := fmt.Sprintf("%s answered %s", w.Preset.ModelsPath, r)
	if err := w.refused(r); err != nil {
		return false, seen, err
	}
	if r.Err != nil && !errors.Is(r.Err, engine.ErrTooLarge) || r.Status >= 500 && r.Status != http.StatusNotImplemented {
		return false, seen, nil
	}
	var list struct{ Data []Model }
	if r.Status != http.StatusOK || json.Unmarshal(r.Body, &list) != nil || len(list.Data) == 0 {
		if w.Model != "" && (w.Preset.HealthPath == "" || w.lasting()) {
			return true, "", nil // not every server lists its models; the token decides
		}
		return false, seen, nil
	}
	w.models = w.taken(list.Data)
	if w.Model == "" {
		w.Model = w.models[0].ID
	}
	return w.listed()
}

// taken is a server's list as it may stand in a result.
func (w *waiter) taken(list []Model) []Model {
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
	if w.Preset.AnyModel {
		return true, "", nil
	}
	for _, m := range w.models {
		if m.ID == w.Model || slices.Contains(m.Aliases, w.Model) {
			return true, "", nil
		}
		ids = append(ids, m.ID)
	}
	return false, "", fault.New(w.Layer, "wrong_model", "set model.served to a name that it serves, or measure another server",
		"%s does not serve %q but %s", w.who(), w.Model, strings.Join(ids, ", "))
}
