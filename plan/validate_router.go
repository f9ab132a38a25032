package plan

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"assay/plan/keys"
)

func (v *validator) routers(p Plan) {
	var spans []span
	for i, r := range p.Routers {
		at := keys.Join("routers", strconv.Itoa(i))
		v.router(r, at, p.Unpinned)
		v.behind(r, at, p.Server)
		s, err := parseSpan(r.Points)
		if err != nil {
			if r.Points != "" {
				v.fail(at+".points", "value", "", "%s.points: %s", at, err)
			}
			continue
		}
		for _, other := range spans {
			if s.overlaps(other) {
				v.fail(at+".points", "value", "a point has one router: give each concurrency to one of them",
					"%s.points %q overlaps the points of another router", at, r.Points)
				break
			}
		}
		spans = append(spans, s)
	}
}

func (v *validator) router(r Router, at string, unpinned bool) {
	made := r.Kind != "nginx" && r.Kind != "haproxy" // by arguments and not by a configuration file
	switch {
	case r.Kind == RouterNone && (r.Runtime != "" || r.Image != "" || len(r.Command) > 0 || len(r.Args) > 0 || len(r.Env) > 0):
		v.fail(at+".kind", "value", "remove everything but points", "%s has kind none and starts nothing", at)
	case !made && (len(r.Args) > 0 || len(r.Env) > 0 || r.Upstream != ""):
		v.fail(at+".kind", "value", "remove args, env and upstream_header, or write kind: generic", "%s: %s is told everything by its configuration", at, r.Kind)
	case r.Kind == "generic" && !slices.ContainsFunc(r.Args, func(a string) bool { return strings.Contains(a, "{port}") }):
		v.fail(at+".args", "missing", `write its arguments, such as ["--port", "{port}", "--backends", "{upstreams}"]`, "%s.args do not say {port}: assay must know where it listens", at)
	case r.Kind != "generic" && r.Health != "":
		v.fail(at+".health", "value", "remove it", "%s.health has a meaning for kind generic only", at)
	case r.Upstream != "" && !headerForm.MatchString(r.Upstream):
		v.fail(at+".upstream_header", "value", "", "%s.upstream_header %q is not the name of a header", at, r.Upstream)
	}
	if r.Kind == RouterNone {
		return
	}
	v.variables(r.Env, at+".env", func(string) string { return "take it out: a router is given no secrets" })
	if r.Runtime == "process" && len(r.Command) == 0 && r.Kind == "generic" {
		v.fail(at+".command", "missing", "write the program, such as command: [my-router]", "%s.command is missing: a generic router has no program of its own", at)
	}
	if r.Runtime == "docker" {
		v.image(r.Image, at+".image", strings.TrimSpace(at+" with runtime docker"), unpinned)
	} else if r.Image != "" {
		v.fail(at+".image", "value", "remove the image or write runtime: docker", "%s.image has no meaning for runtime %s", at, r.Runtime)
	}
}

// behind checks that a router can reach the running servers: it speaks plain HTTP to host and port.
func (v *validator) behind(r Router, at string, s Server) {
	if r.Kind == RouterNone || s.Runtime != "endpoint" {
		return
	}
	for _, address := range s.BaseURLs() {
		if u, err := url.Parse(address); err == nil && u.User == nil && (u.Scheme != "http" || u.Port() == "") {
			v.fail(at+".kind", "value", "remove the router, or write each server as http://host:port", "%s: a router cannot stand before a server at %s", at, address)
			return
		}
	}
}
