package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"assay/agent"
	"assay/agent/lock"
	"assay/agent/node"
	"assay/agent/publish"
	"assay/api"
	"assay/archive"
	"assay/cmd/assay/config"
	"assay/cmd/assay/credential"
	"assay/fault"
	"assay/plan"
	"assay/probes"
	"assay/report"
	"assay/result"
	"assay/store"
)

// closeLimit bounds the end of open HTTP answers at shutdown; event streams end at once.
const closeLimit = 5 * time.Second

type serveOptions struct {
	listen, socket, tokenFile, config string
	hosts                             []string
	keepRuns                          int
	memoryWait                        time.Duration
	verbose                           bool
}

func (a *app) serveCommand() *cobra.Command {
	var o serveOptions
	c := &cobra.Command{
		Use:   "serve",
		Short: "the daemon: queue, schedules, API and page",
		Long: `Hold the data directory, execute queued plans one at a time, rerun schedules, and serve the API and the page.
Listens on a Unix socket and on 127.0.0.1; another address needs a token file.`,
		Example: "  assay serve\n  assay serve --listen 0.0.0.0:7717 --token-file /etc/assay/tokens",
		RunE:    func(c *cobra.Command, _ []string) error { return a.serve(c.Context(), o) },
	}
	f := c.Flags()
	f.StringVar(&o.listen, "listen", "127.0.0.1:7717", "`ADDR` of the API and the page; port 0 picks one")
	f.StringVar(&o.socket, "socket", "", "`PATH` of the Unix socket (default: assay.sock in the data directory)")
	f.StringVar(&a.docker, "docker-host", "", dockerHostUsage)
	f.StringVar(&o.tokenFile, "token-file", "", "`FILE` of tokens, a line each: scope (read, run, admin) and the token's SHA-256 in hex (default: the systemd credential tokens)")
	f.StringVar(&o.config, "config", "", "`FILE` that says what plans from the network may have of this machine (default "+config.Usual+", when it is there)")
	f.StringSliceVar(&o.hosts, "host", nil, "further `NAME`s by which browsers may reach the page")
	f.DurationVar(&o.memoryWait, "memory-wait", node.AfterRun, "how long a run waits for GPU memory to come back after its servers ended, before the node counts as dirty")
	f.IntVar(&o.keepRuns, "keep-runs", 0, "delete the oldest ended runs beyond this many; 0 keeps all")
	f.BoolVar(&o.verbose, "verbose", false, "log every request")
	return c
}

func (a *app) serve(ctx context.Context, o serveOptions) (err error) {
	if o.socket == "" {
		o.socket = filepath.Join(a.data, "assay.sock")
	}
	if o.keepRuns < 0 {
		return usage("--keep-runs takes a number of runs, or 0 for all, not %d", o.keepRuns)
	}
	if o.memoryWait <= 0 {
		return usage("--memory-wait takes a time above zero, not %s", o.memoryWait)
	}
	if o.tokenFile == "" {
		o.tokenFile = credential.File(a.getenv, "tokens")
	}
	settings, err := config.Read(o.config)
	if err != nil {
		return err
	}
	tokens, err := readTokens(o)
	if err != nil {
		return err
	}
	log := a.logger(o.verbose)
	s, holder, err := a.openSession(ctx, o.socket, log)
	if errors.Is(err, lock.ErrHeld) {
		return fault.New(fault.Store, "busy", "stop it first, or choose another directory with --data",
			"the data directory %s is in use by process %d", a.data, holder.PID)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	s.agent.KeepRuns, s.agent.MemoryLimit, s.agent.Allow = o.keepRuns, o.memoryWait, &settings.Allow
	s.agent.Closed = config.Closed(config.Used{Config: settings.Path, Tokens: o.tokenFile, Socket: o.socket, Credentials: a.getenv("CREDENTIALS_DIRECTORY")}, a.getenv)
	if err := s.agent.Recover(ctx); err != nil {
		return err
	}
	srv := api.New(api.Deps{Store: s.store, Controller: controller{s.agent}, Program: program(), Log: log, Now: a.now,
		Report: func(ctx context.Context, id string) (report.Input, error) { return publish.Input(ctx, s.store, id) },
		Archive: func(ctx context.Context, id string, w io.Writer) error {
			return archive.Pack(ctx, s.store.RunDir(id), s.agent.Key, w)
		},
		CheckNode: s.agent.CheckNode, Live: s.agent.Live, Permit: s.agent.Permit, Hide: s.agent.Redactor, Hosts: o.hosts, Tokens: tokens, TokensRequired: o.tokenFile != ""})
	return a.listen(ctx, o, s.agent, srv)
}

// cannotListen tells an address that another program has from one that nobody here can have.
func cannotListen(err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fault.New(fault.Store, "address_in_use", "choose another address with --listen, or port 0 for a free one", "cannot listen: %w", err)
	}
	return fault.New(fault.Store, "no_address", "write an address of this machine for --listen, with a port from 0 to 65535 that this user may have",
		"cannot listen: %w", err)
}

// listen serves until ctx ends or a listener breaks, then lets the running run undo what it started before it closes the listeners:
// whoever follows the run sees its end.
func (a *app) listen(ctx context.Context, o serveOptions, ag *agent.Agent, srv *api.Server) error {
	tcp, err := net.Listen("tcp", o.listen)
	if err != nil {
		return cannotListen(err)
	}
	unix, err := listenUnix(o.socket)
	if err != nil {
		return errors.Join(err, tcp.Close())
	}
	server := srv.NewHTTPServer(o.listen)
	broken := make(chan error, 2)
	for _, l := range []net.Listener{tcp, unix} {
		go func() { broken <- server.Serve(l) }()
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	ended := make(chan error, 1)
	go func() { ended <- ag.Run(ctx) }()
	fmt.Fprintf(a.stdout, "listening on http://%s\n", tcp.Addr())
	select {
	case <-ctx.Done():
		err = <-ended
	case err = <-ended:
	case err = <-broken:
		stop(err)
		err = errors.Join(err, <-ended)
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeLimit)
	defer cancel()
	if serr := server.Shutdown(closing); serr != nil {
		err = errors.Join(err, server.Close())
	}
	srv.Close()
	return err
}

// listenUnix listens on a socket that only its owner may use. One that a killed daemon left is replaced: the lock says it is dead.
// Anything else of that name is left alone.
func listenUnix(name string) (net.Listener, error) {
	if info, err := os.Lstat(name); err == nil && info.Mode().Type() != fs.ModeSocket {
		return nil, fault.New(fault.Store, "socket", "choose another path with --socket", "%s is there already and is no socket", name)
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.Store, "socket", "choose another path with --socket", "replace the old socket: %w", err)
	}
	old := syscall.Umask(0o177)
	defer syscall.Umask(old)
	l, err := net.Listen("unix", name)
	if err != nil {
		return nil, fault.New(fault.Store, "socket", "choose a shorter path with --socket (at most 107 characters)", "cannot listen on the socket: %w", err)
	}
	return l, nil
}

// readTokens reads the token file; an address that others can reach needs one.
func readTokens(o serveOptions) ([]api.Token, error) {
	if o.tokenFile == "" {
		host, _, err := net.SplitHostPort(o.listen)
		if err != nil {
			return nil, usage("--listen takes HOST:PORT, not %q", o.listen)
		}
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return nil, fault.New(fault.Plan, "tokens_needed", "give --token-file FILE, with lines such as: run <SHA-256 of the token>",
				"%s can be reached by others, and there is no token file", o.listen)
		}
		return nil, nil
	}
	f, err := os.Open(o.tokenFile)
	if err != nil {
		return nil, fault.New(fault.Plan, "tokens_unreadable", "check the name and the file's mode", "cannot read the tokens: %w", err)
	}
	defer f.Close()
	tokens, err := api.ParseTokens(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.tokenFile, err)
	}
	return tokens, nil
}

// logger writes to stderr; under systemd the journal adds the time.
func (a *app) logger(verbose bool) *slog.Logger {
	opt := &slog.HandlerOptions{Level: slog.LevelInfo}
	if verbose {
		opt.Level = slog.LevelDebug
	}
	if a.getenv("JOURNAL_STREAM") != "" {
		opt.ReplaceAttr = func(groups []string, at slog.Attr) slog.Attr {
			if len(groups) == 0 && at.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return at
		}
	}
	return slog.New(slog.NewTextHandler(a.stderr, opt))
}

// controller is the agent as the API sees it.
type controller struct{ agent *agent.Agent }

func (c controller) Submit(ctx context.Context, p plan.Plan, s api.Submission) (store.Run, error) {
	return c.agent.Submit(ctx, p, s.Key, agent.Origin{Source: agent.FromAPI, BaseDir: s.BaseDir, NoArchive: s.NoArchive, Guest: s.Guest})
}

func (c controller) Change(ctx context.Context, id string, to api.Change) error {
	if to == api.Resume {
		return c.agent.Resume(ctx, id)
	}
	return c.agent.Cancel(ctx, id)
}

func (c controller) Events(ctx context.Context, seq int64, run string) (<-chan result.Event, error) {
	return c.agent.Events(ctx, seq, run)
}

func (c controller) Probe(ctx context.Context) (probes.SUT, []probes.Check, error) {
	return c.agent.Probe(ctx)
}

func (c controller) Reschedule(ctx context.Context) error { return c.agent.Reschedule(ctx) }
