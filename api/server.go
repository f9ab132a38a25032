package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"html/template"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"assay/plan"
	"assay/probes"
	"assay/redact"
	"assay/report"
	"assay/result"
	"assay/store"
)

// heartbeat is how often a silent event stream says that it is alive.
const heartbeat = 15 * time.Second

// Deps is what the server stands on. All but Live, Permit, Hide, Hosts and Tokens are required.
type Deps struct {
	Store      *store.Store
	Controller Controller
	Program    probes.Program
	Log        *slog.Logger
	Now        func() time.Time

	// Report gathers what a report of a run may use.
	Report func(ctx context.Context, runID string) (report.Input, error)
	// Archive packs and signs a run.
	Archive func(ctx context.Context, runID string, w io.Writer) error

	// CheckNode looks at the machine's accelerators now, and with accept takes the machine as it is.
	CheckNode func(ctx context.Context, accept bool) (result.Node, error)

	// Live tells whether a run is under way, and the latest sample of each series while it samples any; nil: never.
	Live func() (samples []probes.Sample, running bool)

	// Permit refuses a plan that may not be kept, a guest's or the owner's, as Submit does when it is to be queued; nil permits all.
	Permit func(p plan.Plan, guest bool) error
	// Hide gives what takes the secrets out of the files of a run that is being executed; nil, as it is for any other run: what is shown of
	// them holds none.
	Hide func(runID string) *redact.Redactor

	// Hosts are further names by which browsers may call this server, beside loopback names and addresses.
	Hosts []string
	// Tokens are who may call over TCP. TokensRequired refuses calls without one; a Unix socket is guarded by its
	// file mode instead and never needs one.
	Tokens         []Token
	TokensRequired bool
}

// Server answers the API and the page.
type Server struct {
	Deps
	handler   http.Handler
	pages     *template.Template
	assets    map[string]asset
	machine   lastProbe
	heartbeat time.Duration
	stopped   chan struct{} // closed when the HTTP server shuts down: event streams and probes that nobody asked for end
	stop      func()
	beside    sync.WaitGroup // probes that nobody asked for
}

// New makes a server. It starts nothing: goroutines live only as long as a request, or as long as a probe that metrics were in want of.
func New(d Deps) *Server {
	s := &Server{Deps: d, heartbeat: heartbeat, stopped: make(chan struct{}), assets: assets()}
	s.stop = sync.OnceFunc(func() { close(s.stopped) })
	s.pages = parsePages()
	s.handler = s.routes()
	return s
}

// NewHTTPServer makes the HTTP server around the handler, with limits for slow and large callers. There is no write
// timeout, for event streams and archives last; the streams set a deadline on each write. Its Shutdown ends the streams.
func (s *Server) NewHTTPServer(addr string) *http.Server {
	srv := &http.Server{
		Addr:              addr,
		Handler:           s.handler,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug),
	}
	srv.RegisterOnShutdown(s.stop)
	return srv
}

// Close ends what goes on beside requests and waits for it, so that no program of a probe outlives this one. It comes after the HTTP server's Shutdown.
func (s *Server) Close() {
	s.stop()
	s.beside.Wait()
}

// routes puts the middleware around the route tables: the first in the list sees a request first.
func (s *Server) routes() http.Handler {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.IPExtractor = echo.ExtractIPDirect()
	e.HTTPErrorHandler = s.answerError
	e.Use(s.recovered, s.logged, secureHeaders, s.knownHost, sameSite())
	for _, r := range append(s.apiRoutes(), s.pageRoutes()...) {
		e.Add(r.method, r.path, r.handle, s.allowed(r.scope))
	}
	return e
}

// logged writes one debug line per request.
func (s *Server) logged(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := s.Now()
		err := next(c)
		if err != nil {
			c.Error(err) // so that the status below is the one that was sent
		}
		r := c.Request()
		s.Log.DebugContext(r.Context(), "request", "method", r.Method, "path", r.URL.Path,
			"status", c.Response().Status, "bytes", c.Response().Size, "took", s.Now().Sub(start))
		return nil
	}
}

// asset is an embedded file with its strong validator: embedded files have no time of change.
type asset struct {
	body        []byte
	contentType string
	etag        string
}

func newAsset(body []byte, contentType string) asset {
	sum := sha256.Sum256(body)
	return asset{body: body, contentType: contentType, etag: `"` + hex.EncodeToString(sum[:8]) + `"`}
}

// serveAsset answers with an embedded file, or that the caller's copy is still good.
func (s *Server) serveAsset(name string) echo.HandlerFunc {
	return func(c echo.Context) error {
		a := s.assets[name]
		c.Response().Header().Set("ETag", a.etag)
		c.Response().Header().Set("Cache-Control", "no-cache")
		if c.Request().Header.Get("If-None-Match") == a.etag {
			return c.NoContent(http.StatusNotModified)
		}
		return c.Blob(http.StatusOK, a.contentType, a.body)
	}
}
