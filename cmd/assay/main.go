package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), stopping()...)
	defer stop()
	// Without this a closed pipe on stdout or stderr would kill the program at its next line. Children get the default back.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	context.AfterFunc(ctx, stop) // the first signal stops cleanly, a second one at once
	exe, err := os.Executable()
	if err != nil {
		exe = os.Args[0]
	}
	tty := int(os.Stderr.Fd())
	columns, _, err := term.GetSize(tty)
	if err != nil || columns < 40 {
		columns = 80 // some terminals say 0
	}
	a := app{
		stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv, executable: exe, now: time.Now, euid: os.Geteuid(),
		terminal: term.IsTerminal(tty) && os.Getenv("TERM") != "dumb", columns: columns,
	}
	code := a.run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// stopping lists the signals that stop the program. A closed session (HUP) and QUIT stop as cleanly as Ctrl-C: the server that was started
// must not outlive this program. Under nohup HUP is ignored from the start, and stays so.
func stopping() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}
