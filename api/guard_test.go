package api

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKnownHosts(t *testing.T) {
	f := newFixture(t, func(d *Deps) { d.Hosts = []string{"bench.example:7717", "Node-7"} })
	tests := []struct {
		host  string
		known bool
	}{
		{"localhost:7717", true}, {"LOCALHOST", true}, {"localhost.", true}, {"a.localhost", true},
		{"127.0.0.1:7717", true}, {"[::1]:7717", true}, {"[::1]", true}, {"192.0.2.7:80", true},
		{"bench.example", true}, {"BENCH.example:1", true}, {"node-7:7717", true},
		{"evil.example", false}, {"localhost.evil.example", false}, {"127.0.0.1.evil.example", false}, {"notlocalhost", false},
		{"bench.example.evil", false},
	}
	for _, tt := range tests {
		for _, path := range []string{"/healthz", "/", "/api/v1/runs", "/nothing"} {
			got := f.do("GET", path, "", "Host", tt.host)
			if refused := got.status == http.StatusMisdirectedRequest; refused == tt.known {
				t.Errorf("Host %s on %s: status %d, known %v", tt.host, path, got.status, tt.known)
			}
		}
	}
	if p := f.do("GET", "/healthz", "", "Host", "evil.example").problem(t); p.Hint == "" {
		t.Error("the refusal does not say what to do")
	}
}

func TestCrossSiteCallsAreRefused(t *testing.T) {
	f := newFixture(t)
	tests := []struct {
		name    string
		method  string
		headers []string
		refused bool
	}{
		{"a program", "POST", nil, false},
		{"the page itself", "POST", []string{"Sec-Fetch-Site", "same-origin"}, false},
		{"typed by the user", "POST", []string{"Sec-Fetch-Site", "none"}, false},
		{"another site", "POST", []string{"Sec-Fetch-Site", "cross-site"}, true},
		{"another port of this host", "POST", []string{"Sec-Fetch-Site", "same-site"}, true},
		{"another site, older browser", "POST", []string{"Origin", "https://evil.example"}, true},
		{"a sandboxed frame", "POST", []string{"Origin", "null"}, true},
		{"the page itself, older browser", "POST", []string{"Origin", f.http.URL}, false},
		{"a link from another site", "GET", []string{"Sec-Fetch-Site", "cross-site"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := f.do(tt.method, "/api/v1/runs", samplePlan, tt.headers...)
			if refused := got.status == http.StatusForbidden; refused != tt.refused {
				t.Errorf("status %d, refused should be %v", got.status, tt.refused)
			}
		})
	}
	for _, r := range f.pageRoutes() {
		if r.method == http.MethodGet {
			continue
		}
		path := strings.ReplaceAll(r.path, ":id", "x")
		if got := f.do(r.method, path, "", "Sec-Fetch-Site", "cross-site"); got.status != http.StatusForbidden {
			t.Errorf("form %s: status %d, want 403", path, got.status)
		}
	}
}

// tokenLine is a line of a token file.
func tokenLine(scope, token string) string {
	return fmt.Sprintf("%s %x %s's token\n", scope, sha256.Sum256([]byte(token)), scope)
}

func withTokens(t *testing.T) func(*Deps) {
	tokens, err := ParseTokens(strings.NewReader("# tokens\n\n" + tokenLine("read", "r-secret") + tokenLine("run", "x-secret") + tokenLine("admin", "a-secret")))
	if err != nil {
		t.Fatal(err)
	}
	return func(d *Deps) { d.Tokens, d.TokensRequired = tokens, true }
}

func TestTokenScopes(t *testing.T) {
	f := newFixture(t, withTokens(t))
	scopes := map[string]Scope{"": Open, "wrong": Open, "r-secret": Read, "x-secret": Run, "a-secret": Admin}
	for _, r := range append(f.apiRoutes(), f.pageRoutes()...) {
		if strings.HasSuffix(r.path, "/events") {
			continue // a stream; its scope is checked by the same middleware
		}
		path := strings.NewReplacer(":id", "none", "*", "x").Replace(r.path)
		for token, scope := range scopes {
			got := f.do(r.method, path, "", "Authorization", "Bearer "+token)
			want := 0
			switch {
			case r.scope == Open || scope >= r.scope:
			case scope == Open:
				want = http.StatusUnauthorized
			default:
				want = http.StatusForbidden
			}
			refused := got.status == http.StatusUnauthorized || got.status == http.StatusForbidden
			if refused != (want != 0) || refused && got.status != want {
				t.Errorf("%s %s with %q: status %d, want refusal %d", r.method, path, token, got.status, want)
			}
		}
	}
}

func TestEveryChangeNeedsMoreThanRead(t *testing.T) {
	f := newFixture(t)
	for _, r := range append(f.apiRoutes(), f.pageRoutes()...) {
		if r.method != http.MethodGet && r.scope < Run {
			t.Errorf("%s %s changes something with scope %s", r.method, r.path, r.scope)
		}
	}
}

func TestTokenForms(t *testing.T) {
	f := newFixture(t, withTokens(t))
	tests := []struct {
		authorization string
		status        int
	}{
		{"Bearer r-secret", 200}, {"bearer r-secret", 200}, {"Basic YW55Om9uZTpyLXNlY3JldA==", 401}, // any:one:r-secret: the password holds a colon
		{"Basic YW55OnItc2VjcmV0", 200}, // any:r-secret
		{"Bearer", 401}, {"Bearer ", 401}, {"r-secret", 401}, {"Token r-secret", 401},
	}
	for _, tt := range tests {
		if got := f.do("GET", "/api/v1/runs", "", "Authorization", tt.authorization); got.status != tt.status {
			t.Errorf("%s: status %d, want %d", tt.authorization, got.status, tt.status)
		}
	}
	browser := f.do("GET", "/", "", "Accept", "text/html")
	if got := browser.header.Values("WWW-Authenticate"); len(got) != 2 || !strings.HasPrefix(got[1], "Basic ") {
		t.Errorf("a browser is asked with %q", got)
	}
	program := f.do("GET", "/api/v1/runs", "")
	if got := program.header.Values("WWW-Authenticate"); len(got) != 1 || !strings.HasPrefix(got[0], "Bearer ") {
		t.Errorf("a program is asked with %q", got)
	}
}

func TestUnixSocketNeedsNoToken(t *testing.T) {
	f := newFixture(t, withTokens(t))
	path := filepath.Join(t.TempDir(), "assay.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	srv := f.NewHTTPServer("")
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}}}
	res, err := client.Get("http://assay/api/v1/runs")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("over the socket: status %d", res.StatusCode)
	}
	client.CloseIdleConnections()
	if err := srv.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}

func TestParseTokens(t *testing.T) {
	good := tokenLine("admin", "s")
	tokens, err := ParseTokens(strings.NewReader(good))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Token{{Scope: Admin, SHA256: sha256.Sum256([]byte("s")), Name: "admin's token"}}, tokens); diff != "" {
		t.Errorf("tokens (-want +got):\n%s", diff)
	}
	for _, bad := range []string{"admin", "root " + strings.Repeat("0", 64), "open " + strings.Repeat("0", 64), "read zz", "read 00", "read my-plain-token"} {
		_, err := ParseTokens(strings.NewReader(good + bad))
		if err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%q: %v, want an error at line 2", bad, err)
		}
		if err != nil && strings.Contains(err.Error(), "my-plain-token") {
			t.Error("the error prints what may be a token")
		}
	}
}

func FuzzParseTokens(f *testing.F) {
	f.Add(tokenLine("read", "x") + "# note\n")
	f.Add("read\x00 zz")
	f.Fuzz(func(t *testing.T, text string) {
		tokens, err := ParseTokens(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, tok := range tokens {
			if tok.Scope <= Open || tok.Scope > Admin {
				t.Errorf("%q made a token of scope %d", text, tok.Scope)
			}
		}
	})
}

func TestSecurityHeaders(t *testing.T) {
	f := newFixture(t)
	run := f.endedRun()
	for path, policy := range map[string]string{
		"/": pagePolicy, "/runs/" + run.ID: pagePolicy, "/api/v1/runs": pagePolicy, "/nothing": pagePolicy,
		"/api/v1/runs/" + run.ID + "/report":           reportPolicy,
		"/api/v1/runs/" + run.ID + "/files/server.log": filePolicy,
		"/api/v1/runs/" + run.ID + "/logs":             filePolicy,
	} {
		h := f.do("GET", path, "").header
		if h.Get("Content-Security-Policy") != policy || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %q, %q", path, h.Get("Content-Security-Policy"), h.Get("X-Content-Type-Options"))
		}
	}
	if strings.Contains(pagePolicy, "unsafe") {
		t.Error("the page allows inline code")
	}
}

func TestServerLimits(t *testing.T) {
	srv := newFixture(t).NewHTTPServer("127.0.0.1:0")
	if srv.ReadHeaderTimeout == 0 || srv.IdleTimeout == 0 || srv.MaxHeaderBytes == 0 {
		t.Errorf("a slow or large caller has no limit: %+v", srv)
	}
}
