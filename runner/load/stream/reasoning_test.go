package stream

import (
	"fmt"
	"net"
	"net/http"
	"testing"
)

// TestReasoningOfTheUsage: reasoning that no event brought came before the first text and counts with it; reasoning that was streamed
// counts where it came.
func TestReasoningOfTheUsage(t *testing.T) {
	for name, c := range map[string]struct {
		before string
		want   []int64
	}{
		"hidden":   {"", []int64{31, 1, 1}},
		"streamed": {`data: {"choices":[{"delta":{"reasoning_content":"so"}}]}` + "\n\n", []int64{8, 8, 8, 9}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(t, serve(t, func(_ int, conn net.Conn, _ *http.Request) {
				text := `data: {"choices":[{"delta":{"content":"a"}}]}` + "\n\n"
				fmt.Fprint(conn, streamHead, c.before, text, text, text,
					`data: {"choices":[],"usage":{"completion_tokens":33,"prompt_tokens":4,"completion_tokens_details":{"reasoning_tokens":30}}}`+"\n\n", doneEvent)
				conn.Close()
			}))
			r, _ := ask(t, cfg)
			var got []int64
			for _, e := range r.Events {
				got = append(got, e.Tokens)
			}
			if fmt.Sprint(got) != fmt.Sprint(c.want) || r.ReasoningTokens != 30 || r.OutputTokens != 33 || r.TokenSource != "estimated" {
				t.Errorf("events %v, want %v; %d of %d tokens are reasoning, counted by %s", got, c.want, r.ReasoningTokens, r.OutputTokens, r.TokenSource)
			}
		})
	}
}
