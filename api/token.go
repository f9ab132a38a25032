package api

import (
	"bufio"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"assay/fault"
)

// Scope is what a caller may do; a higher one holds the lower ones.
type Scope int

// The scopes. Open needs no token at all.
const (
	Open  Scope = iota
	Read        // look at everything
	Run         // also queue and cancel runs, probe the machine
	Admin       // also delete runs and change schedules
)

// scopeNames is indexed by Scope.
func scopeNames() []string { return []string{"open", "read", "run", "admin"} }

// String is the scope's name in a token file.
func (s Scope) String() string { return scopeNames()[s] }

// Token is a line of the token file: what its bearer may do. The token itself is nowhere, only its SHA-256.
type Token struct {
	Scope  Scope
	SHA256 [sha256.Size]byte
	Name   string // for the log
}

// ParseTokens reads a token file: lines of "scope sha256hex [name]", empty lines and lines that start with # apart.
// The hash of a token is what `printf %s "$TOKEN" | sha256sum` prints.
func ParseTokens(r io.Reader) ([]Token, error) {
	var out []Token
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		t, err := parseToken(line)
		if err != nil {
			return nil, fault.New(layerCall, "bad_token_file", "A line is: read|run|admin, the SHA-256 of the token in hex, a name.", "token file, line %d: %w", n, err)
		}
		out = append(out, t)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read token file: %w", err)
	}
	return out, nil
}

func parseToken(line string) (Token, error) {
	fields := strings.Fields(line)
	if len(fields) < 2 {
		return Token{}, fmt.Errorf("want scope and hash, found %d field", len(fields))
	}
	var t Token
	for i, name := range scopeNames() {
		if name == fields[0] {
			t.Scope = Scope(i)
		}
	}
	if t.Scope == Open {
		return Token{}, fmt.Errorf("%q is not a scope", fields[0])
	}
	sum, err := hex.DecodeString(fields[1])
	if err != nil || len(sum) != sha256.Size {
		return Token{}, fmt.Errorf("the second field is not a SHA-256 in hex") // never print it: it may be the token itself
	}
	t.SHA256 = [sha256.Size]byte(sum)
	t.Name = strings.Join(fields[2:], " ")
	return t, nil
}

// allowed lets a request through when its caller has the scope.
func (s *Server) allowed(need Scope) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if need == Open || !s.TokensRequired || overUnix(c.Request()) {
				return next(c)
			}
			have, ok := s.scopeOf(bearer(c.Request()))
			if !ok {
				challenge(c)
				return refuse(http.StatusUnauthorized, "unauthorized", "Send Authorization: Bearer <token>; a browser asks for it as the password.", "this server wants a token")
			}
			if have < need {
				return refuse(http.StatusForbidden, "scope", "Use a token with a wider scope.", "the token's scope is %s, this needs %s", have, need)
			}
			return next(c)
		}
	}
}

// scopeOf finds a token's scope. It compares with every line, each in constant time, so that time tells nothing.
func (s *Server) scopeOf(token string) (Scope, bool) {
	sum := sha256.Sum256([]byte(token))
	best, found := Open, false
	for _, t := range s.Tokens {
		if subtle.ConstantTimeCompare(sum[:], t.SHA256[:]) == 1 && t.Scope > best {
			best, found = t.Scope, true
		}
	}
	return best, found && token != ""
}

// bearer is the token of a request: the bearer's, or the password of basic authentication, which is how a browser sends one.
func bearer(r *http.Request) string {
	if _, password, ok := r.BasicAuth(); ok {
		return password
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

func challenge(c echo.Context) {
	h := c.Response().Header()
	h.Add("WWW-Authenticate", `Bearer realm="assay"`)
	if wantsPage(c.Request()) {
		h.Add("WWW-Authenticate", `Basic realm="assay: any user name, the token as password", charset="UTF-8"`)
	}
}
