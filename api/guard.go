package api

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
)

// pagePolicy lets the page load only what this server serves; there is no inline script or style.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// filePolicy is for what a run left behind: whatever it is, it runs nothing and loads nothing.
const filePolicy = "sandbox; default-src 'none'; frame-ancestors 'none'"

// secureHeaders sets what holds for every answer; a handler may narrow or replace the policy.
func secureHeaders(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set("Content-Security-Policy", pagePolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		return next(c)
	}
}

// knownHost refuses names that are not ours. DNS rebinding needs a name of the attacker in the Host header, so a literal
// address is always good; a name must be a loopback name or one of Deps.Hosts.
func (s *Server) knownHost(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if overUnix(r) || s.isOurs(hostname(r.Host)) {
			return next(c)
		}
		return refuse(http.StatusMisdirectedRequest, "unknown_host",
			"Call it by its address or by localhost, or start the daemon with --host "+strings.ToLower(hostname(r.Host))+".",
			"this server is not known as %q", r.Host)
	}
}

func (s *Server) isOurs(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	return slices.ContainsFunc(s.Hosts, func(h string) bool { return strings.EqualFold(hostname(h), host) })
}

// hostname is a Host header without port and brackets.
func hostname(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}

// overUnix tells whether the request came through the Unix socket.
func overUnix(r *http.Request) bool {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && addr.Network() == "unix"
}

// sameSite refuses calls that another site made a browser send (Sec-Fetch-Site, else Origin against Host).
func sameSite() echo.MiddlewareFunc {
	protection := http.NewCrossOriginProtection()
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if err := protection.Check(c.Request()); err != nil {
				return refuse(http.StatusForbidden, "cross_site", "Use the page of this server, or a program that is not a browser.",
					"refused a call from another site: %w", err)
			}
			return next(c)
		}
	}
}
