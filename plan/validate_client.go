package plan

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// client checks the headers of requests and how several servers share them.
func (v *validator) client(p Plan) {
	c := p.Client
	for _, name := range slices.Sorted(maps.Keys(c.Headers)) {
		at := "client.headers." + name
		v.header(name, at)
		if LooksSecret(name) || strings.EqualFold(name, "Authorization") {
			v.fail(at, "secret", "write client.headers_env: {"+name+": VARIABLE}", "%s looks like a secret, which would stand in every result", at)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.HeadersEnv)) {
		at := "client.headers_env." + name
		v.header(name, at)
		if !envForm.MatchString(c.HeadersEnv[name]) { // what stands there may be the secret itself: it is not repeated
			v.fail(at, "value", "put the value into a variable and name that here", "%s is not the name of a variable", at)
		}
	}
	for i, name := range c.RoutingHeaders {
		v.header(name, join("client.routing_headers", strconv.Itoa(i)))
	}
	if c.Balance != "" && len(p.Server.URLs) == 0 {
		v.fail("client.balance", "value", "remove it or write server.urls", "client.balance has a meaning with server.urls only")
	}
}

// ownHeaders are the program's: a plan cannot set them.
func ownHeaders() []string {
	return []string{"Host", "Content-Length", "Content-Type", "Accept", "Transfer-Encoding", "Connection"}
}

func (v *validator) header(name, at string) {
	switch {
	case !headerForm.MatchString(name):
		v.fail(at, "value", "", "%s: %q is not the name of a header", at, name)
	case slices.ContainsFunc(ownHeaders(), func(own string) bool { return strings.EqualFold(own, name) }):
		v.fail(at, "value", "remove it", "%s: the program sets %s itself", at, name)
	}
}
