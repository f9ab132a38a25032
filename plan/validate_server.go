package plan

import (
	"net/url"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// pinHint says how a digest is found.
const pinHint = "assay plan pin writes the digest of each image into the plan; allow_unpinned: true goes without, and the result says so"

func (v *validator) server(p Plan) {
	s := p.Server
	if s.Runtime == "" && has(v.places, "server") {
		v.fail("server.runtime", "missing", "", "server.runtime is missing: write docker with an image, process with a command, or endpoint with a url")
	}
	if s.Engine == "" && has(v.places, "server") {
		engine, _ := keyNamed(reflect.TypeFor[Server](), "engine")
		v.fail("server.engine", "missing", "", "server.engine is missing%s", oneOf(engine.Enum))
	}
	if s.Runtime != "endpoint" && (p.Model.Name == AnyModel || p.Model.Served == AnyModel) {
		v.fail("model.name", "value", "name the model", "model.name %q stands for the model of a running server; runtime %s starts one", AnyModel, s.Runtime)
	}
	switch s.Runtime {
	case "docker":
		v.image(s.Image, "server.image", "runtime docker", p.Unpinned)
		v.container(s)
		v.forbid("docker", running(s))
	case "process":
		if len(s.Command) == 0 && s.Engine != "sim" {
			v.fail("server.command", "missing", `write the program, such as command: [llama-server]`, "server.command is missing: runtime process needs the program to start")
		}
		v.forbid("process", dockerOnly(s), running(s), map[string]bool{"server.image": s.Image != ""})
	case "endpoint":
		v.endpointURLs(s)
		v.forbid("endpoint", dockerOnly(s), map[string]bool{
			"server.image": s.Image != "", "server.command": len(s.Command) > 0, "server.args": len(s.Args) > 0,
			"server.env": len(s.Env) > 0, "server.env_from": len(s.EnvFrom) > 0, "server.port": s.Port != 0,
		})
	}
	v.environment(s)
}

// dockerOnly tells which keys that need a container are set.
func dockerOnly(s Server) map[string]bool {
	return map[string]bool{
		"server.gpus": s.GPUs != "", "server.mounts": len(s.Mounts) > 0, "server.shm_size": s.ShmSize != "", "server.network": s.Network != "",
	}
}

// running tells which keys of a server that runs already are set.
func running(s Server) map[string]bool {
	return map[string]bool{"server.url": s.URL != "", "server.urls": len(s.URLs) > 0}
}

// forbid refuses the keys that are set but mean nothing to a runtime.
func (v *validator) forbid(runtime string, groups ...map[string]bool) {
	for _, group := range groups {
		for path, set := range group {
			if set {
				v.fail(path, "value", "remove the key or choose another server.runtime", "%s has no meaning for runtime %s", path, runtime)
			}
		}
	}
}

// image checks an image's name and that it is pinned.
func (v *validator) image(image, path, who string, unpinned bool) {
	switch {
	case image == "":
		v.fail(path, "missing", pinHint, "%s is missing: %s needs an image as name@sha256:<64 hex>", path, who)
	case !imageForm.MatchString(image):
		v.fail(path, "value", pinHint, "%s %q is not an image: write name@sha256:<64 hex>", path, image)
	case !unpinned && !pinnedForm.MatchString(image):
		v.fail(path, "unpinned", pinHint, "%s %q has no digest: write name@sha256:<64 hex>", path, image)
	}
}

func (v *validator) container(s Server) {
	if s.GPUs != "" && !gpusForm.MatchString(s.GPUs) {
		v.fail("server.gpus", "value", "", `server.gpus %q is not known: write all, none or indices such as "0,1"`, s.GPUs)
	}
	if s.ShmSize != "" && !shmForm.MatchString(s.ShmSize) {
		v.fail("server.shm_size", "value", "", "server.shm_size %q is not a size: write 16g or 512m", s.ShmSize)
	}
	targets := map[string]bool{}
	for i, m := range s.Mounts {
		at := join("server.mounts", strconv.Itoa(i))
		v.absolute(m.Source, at+".source")
		v.absolute(m.Target, at+".target")
		if m.Target != "" && targets[path.Clean(m.Target)] {
			v.fail(at+".target", "value", "", "%s.target %s is the target of two mounts", at, m.Target)
		}
		targets[path.Clean(m.Target)] = true
	}
}

func (v *validator) absolute(file, at string) {
	if file != "" && !path.IsAbs(file) {
		v.fail(at, "value", "", "%s %q is not an absolute path: write it from / on", at, file)
	}
}

// LooksSecret tells whether a variable of this name holds a secret, as names of secrets end.
func LooksSecret(name string) bool { return secretForm.MatchString(name) }

func (v *validator) environment(s Server) {
	for name, value := range s.Env {
		if strings.ContainsRune(value, 0) {
			v.fail("server.env."+name, "value", "", "server.env.%s holds a zero byte", name)
		}
		switch {
		case !envForm.MatchString(name):
			v.fail("server.env."+name, "value", "", "server.env: %q is not the name of a variable: letters, digits and _", name)
		case LooksSecret(name):
			v.fail("server.env."+name, "secret", "write server.env_from: ["+name+"], and export "+name+" for the program that executes the run",
				"server.env.%s looks like a secret, which would stand in every result", name)
		}
	}
	v.envFrom(s)
	if s.TokenEnv != "" && s.TokenFile != "" {
		v.fail("server.token_file", "value", "keep one of them", "server has a token_env and a token_file")
	}
	if s.TokenEnv != "" && !envForm.MatchString(s.TokenEnv) {
		v.fail("server.token_env", "value", "put the token into a variable and name that here", "server.token_env is not the name of a variable")
	}
}

// envFrom checks the names of variables whose values stand in no plan.
func (v *validator) envFrom(s Server) {
	for i, name := range s.EnvFrom {
		at := join("server.env_from", strconv.Itoa(i))
		_, written := s.Env[name]
		switch {
		case !envForm.MatchString(name): // what stands there may be the secret itself: it is not repeated
			v.fail(at, "value", "put the value into a variable and name that here", "%s is not the name of a variable", at)
		case written:
			v.fail(at, "value", "keep one of them", "%s %s stands in server.env too", at, name)
		case slices.Index(s.EnvFrom, name) < i:
			v.fail(at, "value", "", "%s %s stands there twice", at, name)
		}
	}
}

// endpointURLs checks where a running server is.
func (v *validator) endpointURLs(s Server) {
	if s.URL != "" && len(s.URLs) > 0 {
		v.fail("server.urls", "value", "keep one of them", "server has a url and urls")
		return
	}
	if len(s.URLs) == 0 {
		v.endpointURL(s.URL, "server.url")
	}
	for i, url := range s.URLs {
		at := join("server.urls", strconv.Itoa(i))
		v.endpointURL(url, at)
		if slices.Index(s.URLs, url) < i {
			v.fail(at, "value", "", "%s stands there twice", at)
		}
	}
}

func (v *validator) endpointURL(text, at string) {
	const hint = "write the server's base URL, such as http://127.0.0.1:8000"
	if text == "" {
		v.fail(at, "missing", hint, "%s is missing: runtime endpoint needs the URL of a running server", at)
		return
	}
	u, err := url.Parse(text)
	switch {
	case err == nil && u.Scheme == "unix" && u.Host == "" && path.IsAbs(u.Path):
	case err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https":
		v.fail(at, "value", hint, "%s is not a URL with http:// or https:// and a host, nor unix:///path/of/socket", at)
	case u.User != nil:
		v.fail(at, "value", "name the variable that holds the token in server.token_env", "%s holds a user or password, which would stand in every result", at)
	case u.RawQuery != "" || u.Fragment != "":
		v.fail(at, "value", hint, "%s has a query or fragment", at)
	}
}

func (v *validator) routers(p Plan) {
	var spans []span
	for i, r := range p.Routers {
		at := join("routers", strconv.Itoa(i))
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
	if r.Kind == RouterNone {
		if r.Runtime != "" || r.Image != "" || len(r.Command) > 0 {
			v.fail(at+".kind", "value", "remove runtime, image and command", "%s has kind none and starts nothing", at)
		}
		return
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
