package sim

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Version is what /version tells.
const Version = "sim-1"

const bodyLimit = 64 << 20

// Server is the engine behind its HTTP face.
type Server struct {
	cfg      Config
	tokens   tokenizer
	engines  []*engine // one for each data-parallel rank
	clock    clock
	ledger   ledger
	requests atomic.Int64
	deaths   chan time.Duration // how long the server is away; Serve reads it

	mu    sync.Mutex
	named map[string]int // requests so far, by the name of a model with faults
}

// New makes a server; zero limits of cfg take Default's. Call cfg.Validate before. It owns no goroutine while no request is being served.
func New(cfg Config) *Server {
	cfg = cfg.withDefaults()
	s := &Server{
		cfg: cfg, tokens: newTokenizer(cfg.TokenBytes), clock: clock{time.Now()}, ledger: ledger{limit: cfg.TruthRequests},
		deaths: make(chan time.Duration), named: map[string]int{},
	}
	for rank := range cfg.Ranks {
		s.engines = append(s.engines, newEngine(cfg, rank))
	}
	return s
}

// Handler serves the OpenAI paths, /health, /version and /metrics.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.completions)
	mux.HandleFunc("POST /v1/completions", s.completions)
	mux.HandleFunc("GET /v1/models", s.models)
	mux.HandleFunc("POST /tokenize", s.tokenize)
	mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"version": Version})
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.registry(), promhttp.HandlerOpts{}))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, &apiError{Message: "Not Found: " + r.Method + " " + r.URL.Path, Type: "NotFoundError", Code: http.StatusNotFound})
	})
	return s.gate(mux)
}

// gate answers for a server that still loads, and for a missing token.
func (s *Server) gate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if time.Since(s.clock.zero) < s.cfg.ReadyAfter {
			writeError(w, &apiError{Message: "Loading model", Type: "unavailable_error", Code: http.StatusServiceUnavailable})
			return
		}
		open := r.URL.Path == "/health" || r.URL.Path == "/version" || r.URL.Path == "/metrics"
		if s.cfg.Token != "" && !open && r.Header.Get("Authorization") != "Bearer "+s.cfg.Token {
			writeError(w, &apiError{Message: "Unauthorized", Type: "AuthenticationError", Code: http.StatusUnauthorized})
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{map[string]any{
		"id": s.cfg.Model, "object": "model", "created": s.clock.zero.Unix(), "owned_by": "assay", "root": s.cfg.Model, "parent": nil,
		"max_model_len": s.cfg.ContextLen,
	}}})
}

// completions serves both completion paths.
func (s *Server) completions(w http.ResponseWriter, r *http.Request) {
	number := int(s.requests.Add(1)) - 1
	chat := r.URL.Path == "/v1/chat/completions"
	x := &exchange{server: s, w: w, control: http.NewResponseController(w), chat: chat, created: time.Now().Unix()}
	x.link, _ = r.Context().Value(linkKey{}).(*link)
	x.truth = Truth{ID: identifier(s.cfg.Seed, number, chat), Path: r.URL.Path, Remote: r.RemoteAddr, Session: r.Header.Get("X-Session-ID"), ArrivedUS: s.clock.now(), Told: -1}
	x.serve(r, number)
	x.abandon()
	x.truth.EndedUS = s.clock.now()
	s.ledger.add(x.truth)
	x.breakOff()
}

// serve answers and says how it ended.
func (x *exchange) serve(r *http.Request, number int) {
	err := x.prepare(r, number)
	switch {
	case err != nil:
		x.refuse(err)
	case x.has(Hangup):
		x.truth.End = string(Hangup)
	default:
		x.answer(r.Context())
	}
}

// prepare reads the request and hands it to the engine.
func (x *exchange) prepare(r *http.Request, number int) *apiError {
	cfg := x.server.cfg
	raw, err := io.ReadAll(http.MaxBytesReader(x.w, r.Body, bodyLimit))
	if err != nil {
		return badRequest("body", "read body: %v", err)
	}
	var refused *apiError
	if x.body, refused = decode(raw, cfg.Refuse); refused != nil {
		return refused
	}
	x.meet(append(faultsFor(cfg.Faults, number), x.server.faultsIn(x.body.Model)...))
	if refused = x.turnedAway(); refused != nil || x.has(Hangup) {
		return refused
	}
	if refused = x.body.check(cfg); refused != nil {
		return refused
	}
	if x.seq, refused = x.body.sequence(cfg, x.server.tokens, x.chat); refused != nil {
		return refused
	}
	x.truth.InputTokens = x.seq.input
	if !x.server.idlest().submit(x.seq) {
		return &apiError{Message: "The engine is currently busy and cannot accept new requests.", Type: "Service Unavailable", Code: http.StatusServiceUnavailable}
	}
	return nil
}

// faultsIn gives the faults in a request's model name; requests are numbered for each name apart.
func (s *Server) faultsIn(model *string) []Fault {
	if model == nil {
		return nil
	}
	list, ok := named(*model, s.cfg.Model)
	if !ok || len(list) == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	number := s.named[*model]
	s.named[*model]++
	return faultsFor(list, number)
}

// idlest is the rank with the least to do.
func (s *Server) idlest() *engine {
	best, least := s.engines[0], s.engines[0].weight()
	for _, e := range s.engines[1:] {
		if w := e.weight(); w < least {
			best, least = e, w
		}
	}
	return best
}

// abandon takes the request out of the engine, if it is there.
func (x *exchange) abandon() {
	if x.seq != nil && x.seq.engine != nil {
		x.seq.engine.abandon(x.seq)
	}
}

func (x *exchange) refuse(err *apiError) {
	x.truth.Status, x.truth.End = err.Code, refused
	writeError(x.w, err)
}

func identifier(seed uint64, number int, chat bool) string {
	prefix := "cmpl-"
	if chat {
		prefix = "chatcmpl-"
	}
	return fmt.Sprintf("%s%08x%08x", prefix, uint32(mix(seed)), number)
}

func writeError(w http.ResponseWriter, err *apiError) {
	writeJSON(w, err.Code, map[string]any{"error": err})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}
