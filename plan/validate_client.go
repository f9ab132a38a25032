package plan

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// client checks the headers of requests and how several servers share them.
func (v *validator) client(p Plan) {
	c := p.Client
	seen := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(c.Headers)) {
		at := "client.headers." + name
		v.header(name, at, seen)
		if strings.ContainsFunc(c.Headers[name], unicode.IsControl) {
			v.fail(at, "value", "", "%s holds a control character, such as the end of a line", at)
		}
		if LooksSecret(name) || strings.EqualFold(name, "Authorization") {
			v.fail(at, "secret", "write client.headers_env: {"+name+": VARIABLE}", "%s looks like a secret, which would stand in every result", at)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.HeadersEnv)) {
		at := "client.headers_env." + name
		v.header(name, at, seen)
		if !envForm.MatchString(c.HeadersEnv[name]) { // what stands there may be the secret itself: it is not repeated
			v.fail(at, "value", "put the value into a variable and name that here", "%s is not the name of a variable", at)
		}
	}
	for i, name := range c.RoutingHeaders {
		v.header(name, join("client.routing_headers", strconv.Itoa(i)), seen)
	}
	if c.Balance != "" && len(p.Server.URLs) == 0 {
		v.fail("client.balance", "value", "remove it or write server.urls", "client.balance has a meaning with server.urls only")
	}
}

// ownHeaders are the program's: a plan cannot set them.
func ownHeaders() []string {
	return []string{"Host", "Content-Length", "Content-Type", "Accept", "Transfer-Encoding", "Connection"}
}

// header checks a header's name; seen has those before it, by their names in lower case.
func (v *validator) header(name, at string, seen map[string]string) {
	lower := strings.ToLower(name)
	first, twice := seen[lower]
	seen[lower] = at
	switch {
	case twice:
		v.fail(at, "value", "keep one of them", "%s is the same header as %s", at, first)
	case !headerForm.MatchString(name):
		v.fail(at, "value", "", "%s: %q is not the name of a header", at, name)
	case slices.ContainsFunc(ownHeaders(), func(own string) bool { return strings.EqualFold(own, name) }):
		v.fail(at, "value", "remove it", "%s: the program sets %s itself", at, name)
	}
}
