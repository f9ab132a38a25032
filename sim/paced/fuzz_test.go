package paced

import (
	"bytes"
	"testing"
)

// FuzzReadLog: a log of another server, or a torn one, is an error and no panic.
func FuzzReadLog(f *testing.F) {
	f.Add([]byte(magic))
	f.Add([]byte(magic + "\x01\x02\x03\x01\x02\x04\x06"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		all, err := ReadLog(bytes.NewReader(raw))
		if err == nil && len(all) > len(raw) {
			t.Errorf("%d requests from %d bytes", len(all), len(raw))
		}
	})
}

// FuzzRequest: a request is read the same whether it comes whole or not, and never beyond what came.
func FuzzRequest(f *testing.F) {
	f.Add([]byte("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 18\r\n\r\n{\"max_tokens\": 300}"))
	f.Add([]byte("GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, size, need, err := parseRequest(raw)
		if err != nil || size == 0 {
			return
		}
		if size > len(raw) || size != need || r.tokens < 0 || r.tokens > mostTokens {
			t.Errorf("size %d of %d, needs %d, %d tokens", size, len(raw), need, r.tokens)
		}
		if again, n, _, err := parseRequest(raw[:size]); err != nil || n != size || again != r {
			t.Errorf("without what follows: %+v, %d, %v; want %+v, %d", again, n, err, r, size)
		}
	})
}
