package sim

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
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
	words    []string
	engine   *engine
	clock    clock
	ledger   ledger
	requests atomic.Int64
}

// New makes a server; zero limits of cfg take Default's. Call cfg.Validate before. It owns no goroutine while no request is being served.
func New(cfg Config) *Server {
	cfg = cfg.withDefaults()
	return &Server{cfg: cfg, words: strings.Fields(vocabulary), engine: newEngine(cfg), clock: clock{time.Now()}, ledger: ledger{limit: cfg.TruthRequests}}
}

// Handler serves the OpenAI paths, /health, /version and /metrics.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.completions)
	mux.HandleFunc("POST /v1/completions", s.completions)
	mux.HandleFunc("GET /v1/models", s.models)
	mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"version": Version})
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.engine.registry(), promhttp.HandlerOpts{}))
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
	x := &exchange{server: s, w: w, chat: chat, created: time.Now().Unix()}
	x.truth = Truth{ID: identifier(s.cfg.Seed, number, chat), Path: r.URL.Path, Session: r.Header.Get("X-Session-ID"), ArrivedUS: s.clock.now()}
	defer func() {
		x.truth.EndedUS = s.clock.now()
		s.ledger.add(x.truth)
	}()
	x.fault, x.faulty = faultFor(s.cfg.Faults, number)
	if err := x.prepare(r); err != nil {
		x.refuse(err)
		return
	}
	defer s.engine.abandon(x.seq)
	x.answer(r.Context())
}

// prepare reads the request and hands it to the engine.
func (x *exchange) prepare(r *http.Request) *apiError {
	cfg := x.server.cfg
	if x.faulty && x.fault.Kind == Reject {
		x.w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(x.fault.Delay.Seconds()))))
		return &apiError{Message: "Too many requests", Type: "RateLimitError", Code: http.StatusTooManyRequests}
	}
	raw, err := io.ReadAll(http.MaxBytesReader(x.w, r.Body, bodyLimit))
	if err != nil {
		return badRequest("body", "read body: %v", err)
	}
	var refused *apiError
	if x.body, refused = decode(raw, cfg.Refuse); refused != nil {
		return refused
	}
	if refused = x.body.check(cfg); refused != nil {
		return refused
	}
	if x.seq, refused = x.body.sequence(cfg, x.server.words, x.chat); refused != nil {
		return refused
	}
	x.truth.InputTokens = x.seq.input
	if !x.server.engine.submit(x.seq) {
		return &apiError{Message: "The engine is currently busy and cannot accept new requests.", Type: "Service Unavailable", Code: http.StatusServiceUnavailable}
	}
	return nil
}

func (x *exchange) refuse(err *apiError) {
	x.truth.Status, x.truth.End = err.Code, "refused"
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
