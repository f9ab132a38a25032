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
	signals := make(chan os.Signal, 3)
	signal.Notify(signals, stopping()...)
	ctx, stop := context.WithCancel(context.Background())
	// Without this a closed pipe on stdout or stderr would kill the program at its next line. Children get the default back.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
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
		terminal: term.IsTerminal(tty) && os.Getenv("TERM") != "dumb", columns: columns, hurry: make(chan struct{}),
	}
	go a.heed(signals, stop)
	code := a.run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// heed has the first signal stop the program cleanly. The second kills what a run started instead of waiting for it to end, and all is taken
// back as after the first; a third one, and a second where nothing can have been started, ends the program at once.
func (a *app) heed(signals <-chan os.Signal, stop func()) {
	<-signals
	stop()
	<-signals
	if a.holds.Load() {
		close(a.hurry)
		<-signals
	}
	os.Exit(exitInterrupted)
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
