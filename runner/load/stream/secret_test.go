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
