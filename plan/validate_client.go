package plan

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"assay/plan/keys"
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
		v.header(name, keys.Join("client.routing_headers", strconv.Itoa(i)), seen)
	}
	if c.Balance != "" && len(p.Server.URLs) == 0 && p.Server.Replicas < 2 {
		v.fail("client.balance", "value", "remove it, or write server.urls or server.replicas", "client.balance has a meaning with several servers only")
	}
	v.external(c, p.Unpinned)
}

// external checks the keys of a client that is another program.
func (v *validator) external(c Client, unpinned bool) {
	if c.Kind == "native" {
		for _, k := range []struct {
			key string
			set bool
		}{{"runtime", c.Runtime != ""}, {"image", c.Image != ""}, {"command", len(c.Command) > 0}, {"args", len(c.Args) > 0}, {"env_from", len(c.EnvFrom) > 0}, {"tokenizer", c.Tokenizer != ""}} {
			if k.set {
				v.fail("client."+k.key, "value", "remove it, or name another client.kind", "client.%s has no meaning for the client native", k.key)
			}
		}
		return
	}
	if c.Runtime == "docker" {
		v.image(c.Image, "client.image", "client.runtime docker", unpinned)
	} else if c.Image != "" {
		v.fail("client.image", "value", "remove the image or write runtime: docker", "client.image has no meaning for runtime %s", c.Runtime)
	}
	v.envFrom(c.EnvFrom, nil, "client.env")
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
