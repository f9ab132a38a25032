package inside

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Process is the world of a program of this machine: its files are the machine's, its Python is the one it runs on.
type Process struct {
	Env  []string // the program's environment
	PIDs []int    // the program and what it started
}

// File reads a file of the machine.
func (Process) File(_ context.Context, name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is no file")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, fileBytes))
}

// Run runs a program in the server's environment, in a process group that ends with ctx.
func (p Process) Run(ctx context.Context, argv ...string) (out, complaint []byte, err error) {
	file, err := p.find(argv[0])
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.CommandContext(ctx, file, argv[1:]...)
	printed, complained := &capped{left: textBytes}, &capped{left: textBytes}
	cmd.Args[0], cmd.Env, cmd.Stdout, cmd.Stderr = argv[0], p.Env, printed, complained
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var exit *exec.ExitError
	switch err := cmd.Run(); {
	case errors.As(err, &exit):
		return nil, nil, exitError(argv[0], exit.ExitCode(), complained.kept.Bytes())
	case err != nil:
		return nil, nil, fmt.Errorf("run %s: %w", argv[0], err)
	}
	return printed.kept.Bytes(), complained.kept.Bytes(), nil
}

// find looks a program up as the server would: in the path of its environment.
func (p Process) find(program string) (string, error) {
	if strings.Contains(program, "/") {
		return program, nil
	}
	for _, pair := range slices.Backward(p.Env) {
		dirs, ok := strings.CutPrefix(pair, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(dirs) {
			if file, err := exec.LookPath(filepath.Join(dir, program)); err == nil && filepath.IsAbs(file) {
				return file, nil
			}
		}
		break
	}
	return "", fmt.Errorf("%s is not there", program)
}

// Pythons are the interpreters among the program's processes.
func (p Process) Pythons(context.Context) []string {
	var commands []string
	for _, pid := range p.PIDs {
		if b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline"); err == nil {
			commands = append(commands, strings.ReplaceAll(string(b), "\x00", " "))
		}
	}
	return interpreters(commands)
}

// interpreters picks the Pythons that command lines begin with, each once. A script is started as "interpreter script …", so they tell which
// environment it lives in.
func interpreters(commands []string) []string {
	python := regexp.MustCompile(`^python[\d.]*$`)
	var list []string
	for _, command := range commands {
		program, _, _ := strings.Cut(strings.TrimSpace(command), " ")
		if python.MatchString(path.Base(program)) && !slices.Contains(list, program) {
			list = append(list, program)
		}
	}
	return list
}

// capped keeps the first bytes written to it and drops the rest.
type capped struct {
	kept bytes.Buffer
	left int
}

// Write keeps what still fits.
func (c *capped) Write(p []byte) (int, error) {
	n := min(len(p), c.left)
	c.left -= n
	c.kept.Write(p[:n])
	return len(p), nil
}
