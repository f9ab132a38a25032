package daemon

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"assay/fault"
	"assay/result"
)

// Client asks one daemon.
type Client struct {
	http   *http.Client
	socket string
}

// New makes a client of the daemon that listens on a socket.
func New(socket string) Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	}
	return Client{http: &http.Client{Transport: &http.Transport{DialContext: dial}}, socket: socket}
}

// Call makes one request; a problem document becomes its fault.
func (d Client) Call(ctx context.Context, method, path string, body []byte, into any) error {
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

func (d Client) do(ctx context.Context, method, path string, body []byte, header http.Header) (*http.Response, error) {
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

// Stream hands on a run's events until it ended; last is the id to go on from.
func (d Client) Stream(ctx context.Context, id string, last *string, events chan<- result.Event) (bool, error) {
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
