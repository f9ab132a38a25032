package host

import (
	"context"
	"fmt"
	"time"
)

// Answer is what one of several programs left, or why it left nothing.
type Answer struct {
	Output
	Err error
}

// RunSeveral runs programs side by side, and answers in their order. One that is not done in time costs its own answer only: a program
// that asks a broken device may not even let itself be killed. Of the time that ctx leaves half is kept for what the caller does next.
func (h Host) RunSeveral(ctx context.Context, limit time.Duration, commands ...[]string) []Answer {
	type numbered struct {
		at int
		Answer
	}
	if end, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(end)/2)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	done := make(chan numbered, len(commands))
	answers := make([]Answer, len(commands))
	for i, argv := range commands {
		answers[i].Err = fmt.Errorf("%s did not answer within %s", argv[0], limit.Round(time.Millisecond))
		go func() {
			out, err := h.Run(ctx, argv...)
			done <- numbered{i, Answer{out, err}}
		}()
	}
	for range commands {
		select {
		case a := <-done:
			answers[a.at] = a.Answer
		case <-ctx.Done():
			return answers
		}
	}
	return answers
}
