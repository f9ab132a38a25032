package sim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// Serve answers on l until ctx ends, and does what no handler can: it dies and comes back (Die), and closes idle connections
// (CloseIdle).
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	for {
		away, err := s.live(ctx, l)
		if err != nil || ctx.Err() != nil || !wait(ctx, away) {
			return err
		}
		if l, err = listenAgain(ctx, l.Addr()); err != nil {
			return err
		}
	}
}

// listenAgain takes an address back that was just left.
func listenAgain(ctx context.Context, at net.Addr) (net.Listener, error) {
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, at.Network(), at.String())
	if err != nil {
		return nil, fmt.Errorf("the simulated engine cannot come back: %w", err)
	}
	return l, nil
}

// live serves until ctx ends or the server dies, and then says for how long it is away.
func (s *Server) live(ctx context.Context, l net.Listener) (time.Duration, error) {
	open := &links{list: map[net.Conn]*link{}}
	srv := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second, ConnState: open.follow, ConnContext: open.mark}
	broken := make(chan error, 1)
	go func() { broken <- srv.Serve(l) }()
	var away time.Duration
	select {
	case <-ctx.Done():
	case err := <-broken:
		return 0, fmt.Errorf("simulated engine: %w", err)
	case away = <-s.deaths:
		open.reset()
	}
	err := srv.Close()
	if ended := <-broken; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return away, err
}

// die has Serve stop for a while; without Serve nothing happens. The engine forgets what it knew.
func (s *Server) die(away time.Duration) {
	select {
	case s.deaths <- away:
		for _, e := range s.engines {
			e.forget()
		}
	default: // it is dying
	}
}

// links are the open connections of a server.
type links struct {
	mu   sync.Mutex
	list map[net.Conn]*link
}

// link is one of them.
type link struct {
	conn  net.Conn
	mu    sync.Mutex
	limit time.Duration // how long it may lie idle; 0 is for ever
	timer *time.Timer
}

type linkKey struct{}

// mark makes a new connection known to its requests.
func (l *links) mark(ctx context.Context, conn net.Conn) context.Context {
	k := &link{conn: conn}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list[conn] = k
	return context.WithValue(ctx, linkKey{}, k)
}

// follow keeps the list and closes what lay idle for too long.
func (l *links) follow(conn net.Conn, state http.ConnState) {
	l.mu.Lock()
	k := l.list[conn]
	if state == http.StateClosed || state == http.StateHijacked {
		delete(l.list, conn)
	}
	l.mu.Unlock()
	if k != nil {
		k.watch(state == http.StateIdle)
	}
}

// reset makes every connection end with RST when it is closed.
func (l *links) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for conn := range l.list {
		if tcp, ok := conn.(interface{ SetLinger(sec int) error }); ok {
			_ = tcp.SetLinger(0) // it is closed right away
		}
	}
}

func (k *link) closeAfter(limit time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.limit = limit
}

func (k *link) watch(idle bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.timer != nil {
		k.timer.Stop()
		k.timer = nil
	}
	if idle && k.limit > 0 {
		k.timer = time.AfterFunc(k.limit, func() { _ = k.conn.Close() })
	}
}
