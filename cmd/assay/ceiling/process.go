package ceiling

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"assay/fault"
)

// Process is how the parts of a measurement are started: each in a process of its own.
type Process struct {
	Program string // this program
	Dir     string // for files
	server  []int  // processors; nil for any
	client  []int
}

// NewProcess gives the server a core of its own where there is more than one.
func NewProcess(program, dir string) Process {
	p := Process{Program: program, Dir: dir}
	if all := cores(); len(all) > 1 {
		p.server, p.client = all[len(all)-1:], all[:len(all)-1]
	}
	return p
}

// Pinned says whether the server has a core of its own.
func (p Process) Pinned() bool { return len(p.server) > 0 }

// server is a paced server under way.
type server struct {
	cmd  *exec.Cmd
	url  string
	rest chan string // what else it said
}

const listening = "listening on "

// serve starts a paced server and waits until it listens.
func (p Process) serve(ctx context.Context, point Point, log string) (*server, error) {
	cmd := exec.CommandContext(ctx, p.Program, "bench-client", "paced", "--port", "0", "--log", log, "--ttft", point.ttft().String(),
		"--itl", point.itl().String(), "--events", fmt.Sprint(point.events()))
	out, err := cmd.StderrPipe()
	if err != nil {
		return nil, failed("server", err, "")
	}
	stop(cmd)
	if err := startOn(cmd, p.server); err != nil {
		return nil, failed("server", err, "")
	}
	lines := bufio.NewReader(out)
	line, _ := lines.ReadString('\n')
	s := &server{cmd: cmd, rest: make(chan string, 1)}
	go func() {
		rest, _ := io.ReadAll(lines)
		s.rest <- string(rest)
	}()
	at := strings.Index(line, listening)
	if at < 0 {
		return nil, failed("server", cmd.Wait(), line+<-s.rest)
	}
	s.url = strings.TrimSpace(line[at+len(listening):])
	return s, nil
}

// port is where it listens.
func (s *server) port() string { return s.url[strings.LastIndexByte(s.url, ':')+1:] }

// end stops the server; its log is whole then.
func (s *server) end() error {
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		return failed("server", err, "")
	}
	rest := <-s.rest
	if err := s.cmd.Wait(); err != nil {
		return failed("server", err, rest)
	}
	return nil
}

// run starts a part that ends by itself and gives what it printed.
func (p Process) run(ctx context.Context, what, program string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	stop(cmd)
	if err := startOn(cmd, p.client); err != nil {
		return nil, failed(what, err, "")
	}
	if err := cmd.Wait(); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, failed(what, err, complaint.String())
	}
	return out.Bytes(), nil
}

// stop has a part end cleanly with the context.
func stop(cmd *exec.Cmd) {
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
}

func failed(what string, err error, said string) error {
	if said = strings.TrimSpace(said); said != "" {
		err = errors.Join(err, errors.New(said))
	}
	return fault.New(fault.Client, "bench_client", "", "the %s of the measurement failed: %w", what, err)
}
