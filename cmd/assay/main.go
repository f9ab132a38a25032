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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
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
