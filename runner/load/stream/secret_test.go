package stream

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"assay/fault"
)

// TestNoTokenInARecord: a server that repeats the token, whole or cut off, has it written down nowhere.
func TestNoTokenInARecord(t *testing.T) {
	const secret = "sk-echo/0123456789abcdefghijklmnopqrstuvwxyz"
	for name, form := range map[string]string{
		"refused":          "HTTP/1.1 401 No\r\nContent-Type: text/plain\r\n\r\nbad key %s",
		"refused, JSON":    "HTTP/1.1 401 No\r\n\r\n" + `{"error":{"message":"bad key %s"}}`,
		"cut by the error": "HTTP/1.1 401 No\r\n\r\n" + strings.Repeat("x", errorBytes-25) + "%s",
		"cut by the text":  "HTTP/1.1 401 No\r\n\r\n" + strings.Repeat(`%[1]s `, 43),
		"no stream":        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n%s",
		"error event":      streamHead + `data: {"error":{"message":"%s"}}` + "\n\n",
		"broken event":     streamHead + "data: %s\n\n",
		"cut event":        streamHead + "data: " + strings.Repeat("x", errorBytes-12) + "%s\n\n",
		"id":               streamHead + `data: {"id":"%s","choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}` + "\n\n" + doneEvent,
		"finish":           streamHead + `data: {"choices":[{"delta":{"content":"a"},"finish_reason":"%s"}]}` + "\n\n" + doneEvent,
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(t, serve(t, func(_ int, c net.Conn, r *http.Request) {
				fmt.Fprintf(c, form, r.Header.Get("Authorization"))
				c.Close()
			}))
			cfg.Token = secret
			r, _ := ask(t, cfg)
			if text := fmt.Sprintf("%+v", r); strings.Contains(text, "sk-e") || !strings.Contains(text, fault.Hidden) && !strings.HasPrefix(name, "cut") {
				t.Errorf("kept: %s", text)
			}
		})
	}
}

// TestSecretHeaders: so is the secret in another header, and each session header carries the session.
func TestSecretHeaders(t *testing.T) {
	const secret = "gate-echo-0123456789"
	cfg := config(t, serve(t, func(_ int, c net.Conn, r *http.Request) {
		fmt.Fprintf(c, "HTTP/1.1 403 No\r\nContent-Type: text/plain\r\n\r\n%s: %s, %s, %s", r.Header.Get("X-Gate"), r.Header.Get("X-Route"), r.Header.Get("X-Other"), r.Header.Get(sessionHeader))
		c.Close()
	}))
	cfg.Headers, cfg.Secrets, cfg.Sessions = map[string]string{"X-Gate": secret}, []string{secret}, []string{"X-Route", "X-Other"}
	call := hello(t, cfg)
	call.Session = "s7\r\nX-Gate: none"
	c := NewClient(cfg.Options)
	defer c.Close()
	r, _ := c.NewExchange().Do(t.Context(), call)
	if want := "HTTP 403: " + fault.Hidden + ": s7X-Gate: none, s7X-Gate: none,"; strings.TrimSpace(r.Error) != want {
		t.Errorf("kept %q, want %q", r.Error, want)
	}
}
