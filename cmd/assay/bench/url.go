package bench

import (
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// splitEndpoints takes the API path off several URLs, which name the same part of the API.
func splitEndpoints(raw []string) (bases []string, endpoint string, err error) {
	for _, one := range raw {
		base, api, err := splitEndpoint(one)
		if err != nil {
			return nil, "", err
		}
		if slices.Contains(bases, base) {
			return nil, "", usage("%s stands there twice", base)
		}
		if endpoint != "" && api != endpoint {
			return nil, "", usage("one URL ends in /v1/completions and another does not: measure chat or completions")
		}
		bases, endpoint = append(bases, base), api
	}
	return bases, endpoint, nil
}

// splitEndpoint takes the API path off a URL: what stays is the base URL, what went says chat or completions. Its errors do not
// repeat the URL, which may hold a secret.
func splitEndpoint(raw string) (base, endpoint string, err error) {
	if !strings.Contains(raw, "://") {
		raw = "http://" + raw
	}
	if strings.ContainsAny(raw, "?#") {
		return "", "", usage("the URL has a query or fragment, which a server's URL has not; a token goes into a variable that --token-env names")
	}
	if socket, ok := strings.CutPrefix(raw, "unix://"); ok && path.IsAbs(socket) && !strings.ContainsFunc(socket, unicode.IsSpace) {
		return raw, "chat", nil
	}
	u, err := url.Parse(raw)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") {
		return "", "", usage("that is not a server's URL; write http://HOST:PORT or unix:///PATH")
	}
	if u.User != nil {
		return "", "", usage("the URL has a user or password, which would stand in every result; a token goes into a variable that --token-env names")
	}
	if err := checkHost(u); err != nil {
		return "", "", err
	}
	u.Path, endpoint = splitPath(u.Path)
	u.RawPath = ""
	return u.String(), endpoint, nil
}

func splitPath(whole string) (base, endpoint string) {
	endpoint = "chat"
	base = strings.TrimSuffix(whole, "/")
	for _, tail := range []string{"/chat/completions", "/completions", "/v1"} {
		cut, found := strings.CutSuffix(base, tail)
		if found && tail == "/completions" {
			endpoint = "completions"
		}
		base = cut
	}
	return base, endpoint
}

// checkHost refuses at once what no resolver would find.
func checkHost(u *url.URL) error {
	if !goodHost(u.Hostname(), strings.HasPrefix(u.Host, "[")) {
		return usage("%q is not a host's name or address; write http://HOST:PORT", u.Hostname())
	}
	port, err := strconv.Atoi(u.Port())
	if strings.HasSuffix(u.Host, ":") || u.Port() != "" && (err != nil || port < 1 || port > 65535) {
		return usage("%q is not a port; write one from 1 to 65535", u.Port())
	}
	return nil
}

func goodHost(name string, bracketed bool) bool {
	labels := strings.Split(strings.TrimSuffix(name, "."), ".")
	if bracketed || digits(labels[len(labels)-1]) { // no name ends in a number
		ip, err := netip.ParseAddr(name)
		return err == nil && ip.Is4() != bracketed
	}
	for _, label := range labels {
		if label == "" || len(label) > 63 || strings.ContainsFunc(label, notOfNames) {
			return false
		}
	}
	return true
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func notOfNames(r rune) bool {
	letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	return !letter && r != '-' && r != '_' && r < 0x80
}

func hostName(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return "server"
	}
	if u.Scheme == "unix" {
		return path.Base(u.Path)
	}
	return strings.NewReplacer(":", "-", "[", "", "]", "").Replace(u.Host)
}
