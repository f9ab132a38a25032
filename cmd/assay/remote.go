package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"assay/agent"
	"assay/fault"
	"assay/result"
)

// daemon talks to the daemon that holds a data directory, over its Unix socket.
type daemon struct {
	http   *http.Client
	socket string
}

func newDaemon(socket string) daemon {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	}
	return daemon{http: &http.Client{Transport: &http.Transport{DialContext: dial}}, socket: socket}
}

// findDaemon gives the daemon of the data directory, or a fault that says how to start one.
func (a *app) findDaemon() (daemon, error) {
	_, holder, err := a.peekLock()
	if err != nil {
		return daemon{}, err
	}
	if holder.Socket == "" {
		return daemon{}, fault.New(fault.Store, "no_daemon", "start one with `assay serve`, or say with --data which directory it has",
			"no daemon holds the data directory %s", a.data)
	}
	return newDaemon(holder.Socket), nil
}

// peekLock says who holds the data directory; nobody gives an empty holder.
func (a *app) peekLock() (bool, agent.Holder, error) {
	if _, err := os.Stat(filepath.Join(a.data, "lock")); errors.Is(err, fs.ErrNotExist) {
		return false, agent.Holder{}, nil // asking makes no directory
	}
	return agent.LockHolder(a.data)
}

// call makes one request; a problem document becomes its fault.
func (d daemon) call(ctx context.Context, method, path string, body []byte, into any) error {
	resp, err := d.do(ctx, method, path, body, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if into == nil {
		return nil
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("read the daemon's answer: %w", err)
	}
	if raw, ok := into.(*[]byte); ok {
		*raw = b
		return nil
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("read the daemon's answer: %w", err)
	}
	return nil
}

func (d daemon) do(ctx context.Context, method, path string, body []byte, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://localhost/api/v1"+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make a request to the daemon: %w", err)
	}
	req.Header = header.Clone()
	if req.Header == nil {
		req.Header = http.Header{}
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/yaml")
	}
	resp, err := d.http.Do(req)
	if err != nil {
		return nil, fault.New(fault.Store, "daemon_unreachable", "look at the daemon's log; start it again with `assay serve`",
			"the daemon at %s does not answer: %w", d.socket, err)
	}
	if resp.StatusCode < 400 {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, problem(resp)
}

// problem reads an RFC 9457 document back into the fault it was made from.
func problem(resp *http.Response) error {
	var f fault.Fault
	b, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil || json.Unmarshal(b, &f) != nil || f.Code == "" {
		return fault.New(fault.Store, "daemon_answer", "", "the daemon answered %s", resp.Status)
	}
	return &f
}

// runView is what this program reads of a run in the API.
type runView struct {
	ID      string       `json:"id"`
	Name    string       `json:"name"`
	State   result.State `json:"state"`
	Verdict string       `json:"verdict"`
}

// executeThere hands the order to the daemon that holds the data directory and follows it. Ctrl-C cancels the run there.
func (a *app) executeThere(ctx context.Context, o order) (outcome, error) {
	d, err := a.findDaemon()
	if err != nil {
		return outcome{}, err
	}
	run, err := a.handOver(ctx, d, o)
	if err != nil {
		return outcome{}, err
	}
	fmt.Fprintf(a.stderr, "handed to the daemon that holds %s as run %s\n", a.data, run.ID)
	if err := a.followThere(ctx, d, run.ID); err != nil {
		return outcome{}, err
	}
	var out outcome
	safe := context.WithoutCancel(ctx)
	if err := d.call(safe, http.MethodGet, "/runs/"+run.ID+"/result", nil, &out.raw); err != nil {
		return out, err
	}
	out.result, err = result.Decode(out.raw)
	return out, err
}

// handOver queues the order's plan with the daemon, or the run it is to go on with.
func (a *app) handOver(ctx context.Context, d daemon, o order) (run runView, err error) {
	if o.resume == "" {
		query := url.Values{"base_dir": {o.origin.BaseDir}, "archive": {strconv.FormatBool(!o.origin.NoArchive)}}
		err = d.call(ctx, http.MethodPost, "/runs?"+query.Encode(), o.plan.YAML(), &run)
		return run, err
	}
	st, err := a.openStore(ctx)
	if err != nil {
		return run, err
	}
	found, err := findToResume(ctx, st, o.resume)
	if err := errors.Join(err, st.Close()); err != nil {
		return run, err
	}
	err = d.call(ctx, http.MethodPost, "/runs/"+found.ID+"/resume", nil, &run)
	return run, err
}

// followThere shows the run's events until it ended. A broken stream is taken up again where it broke.
func (a *app) followThere(ctx context.Context, d daemon, id string) error {
	safe, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() {
		if err := d.call(safe, http.MethodPost, "/runs/"+id+"/cancel", nil, nil); err != nil {
			fmt.Fprintf(a.stderr, "assay: cancel run %s: %v\n", id, err)
			stop()
		}
	})()
	events := make(chan result.Event)
	shown := make(chan struct{})
	go func() { a.follow(events, id); close(shown) }()
	defer func() { close(events); <-shown }()
	last := ""
	for range 5 {
		ended, err := d.stream(safe, id, &last, events)
		if ended || err != nil {
			return err
		}
	}
	return fault.New(fault.Store, "daemon_unreachable", "look at it later with `assay show "+id+"`", "the event stream of run %s broke five times", id)
}

// stream hands on a run's events until it ended; last is the id to go on from.
func (d daemon) stream(ctx context.Context, id string, last *string, events chan<- result.Event) (bool, error) {
	header := http.Header{}
	if *last != "" {
		header.Set("Last-Event-ID", *last)
	}
	resp, err := d.do(ctx, http.MethodGet, "/runs/"+id+"/events", nil, header)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if v, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			*last = v
		}
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e result.Event
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return false, fmt.Errorf("read an event of the daemon: %w", err)
		}
		select {
		case events <- e:
		case <-time.After(time.Minute):
			return false, errors.New("the terminal does not take output")
		}
		if e.Kind == result.RunEnded {
			return true, nil
		}
	}
	return false, nil
}
