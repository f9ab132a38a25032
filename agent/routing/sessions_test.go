package routing

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestTokensOfAnother: what a server still makes for whoever waited until it was ready is no session's.
func TestTokensOfAnother(t *testing.T) {
	behind := servers(t, 2)
	r := requestOf(t, proxy(t, behind, bySession(2), nil), behind)
	path, body := r.small(8)
	resp, err := r.asker(behind[1], "").Send(t.Context(), http.MethodPost, path, body)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := resp.Body.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if s := r.sessions(t.Context(), t.Logf); s == nil || s.By != byCounters || s.Sessions != 12 || s.Moved != 0 {
		t.Errorf("%+v", s)
	}
}

// TestOthersOnTheServers: while others use the servers nobody knows whose tokens they count.
func TestOthersOnTheServers(t *testing.T) {
	behind := servers(t, 2)
	r := requestOf(t, proxy(t, behind, bySession(2), nil), behind)
	resp, err := r.asker(behind[1], "").Send(t.Context(), http.MethodPost, "/v1/completions", []byte(`{"prompt": "a", "stream": true, "max_tokens": 1000, "ignore_eos": true}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	said := ""
	if s := r.sessions(t.Context(), func(format string, args ...any) { said = fmt.Sprintf(format, args...) }); s != nil || !strings.Contains(said, "requests of others") {
		t.Errorf("%+v, %s", s, said)
	}
}
