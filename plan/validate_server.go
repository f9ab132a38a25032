package plan

import (
	"net/url"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"assay/plan/keys"
)

// pinHint says how a digest is found.
const pinHint = "assay plan pin writes the digest of each image into the plan; allow_unpinned: true goes without, and the result says so"

func (v *validator) server(p Plan) {
	s := p.Server
	if s.Runtime == "" && has(v.places, "server") {
		v.fail("server.runtime", "missing", "", "server.runtime is missing: write docker with an image, process with a command, or endpoint with a url")
	}
	if s.Engine == "" && has(v.places, "server") {
		engine, _ := keys.Named(reflect.TypeFor[Server](), "engine")
		v.fail("server.engine", "missing", "", "server.engine is missing%s", oneOf(engine.Enum))
	}
	if s.Runtime != "endpoint" && (p.Model.Name == AnyModel || p.Model.Served == AnyModel) {
		v.fail("model.name", "value", "name the model", "model.name %q stands for the model of a running server; runtime %s starts one", AnyModel, s.Runtime)
	}
	switch s.Runtime {
	case "docker":
		v.image(s.Image, "server.image", "runtime docker", p.Unpinned)
		if s.BaseImage != "" {
			v.image(s.BaseImage, "server.base_image", "its proof", p.Unpinned)
		}
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
			"server.gpus": s.GPUs != "", "server.replicas": s.Replicas > 0, "server.cpus": s.CPUs != "", "server.numa": s.NUMA != "",
		})
	}
	v.placement(s)
	v.environment(s)
	if p.Model.SHA256 != "" && !sha256Form.MatchString(p.Model.SHA256) {
		v.fail("model.sha256", "value", "a run with model.hash: true tells it", "model.sha256 is not 64 hex digits in lower case")
	}
	if p.Model.Path == "" && (p.Model.Hash || p.Model.SHA256 != "") {
		v.fail("model.path", "missing", "write where the model is on this machine", "model.path is missing: only files that are here can be hashed")
	}
	if sum := s.Expect.ConfigSHA256; sum != "" && !sha256Form.MatchString(sum) {
		v.fail("server.expect.config_sha256", "value", "sha256sum config.json gives it", "server.expect.config_sha256 is not 64 hex digits in lower case")
	}
}

// dockerOnly tells which keys that need a container are set.
func dockerOnly(s Server) map[string]bool {
	return map[string]bool{
		"server.image_file": s.ImageFile != "", "server.base_image": s.BaseImage != "",
		"server.gpu_access": s.GPUAccess != "", "server.mounts": len(s.Mounts) > 0, "server.shm_size": s.ShmSize != "", "server.network": s.Network != "",
		"server.ipc": s.IPC != "", "server.ulimits": len(s.Ulimits) > 0, "server.devices": len(s.Devices) > 0, "server.capabilities": len(s.Capabilities) > 0,
		"server.security_opt": len(s.SecurityOpt) > 0, "server.privileged": s.Privileged, "server.user": s.User != "",
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

// LooksSecret tells whether a variable of this name holds a secret, as names of secrets end.
func LooksSecret(name string) bool { return secretForm.MatchString(name) }

// variables checks variables that stand in every result; secret says where one that looks like a secret goes.
func (v *validator) variables(env map[string]string, at string, secret func(name string) string) {
	for name, value := range env {
		if strings.ContainsRune(value, 0) {
			v.fail(at+"."+name, "value", "", "%s.%s holds a zero byte", at, name)
		}
		switch {
		case !envForm.MatchString(name):
			v.fail(at+"."+name, "value", "", "%s: %q is not the name of a variable: letters, digits and _", at, name)
		case LooksSecret(name):
			v.fail(at+"."+name, "secret", secret(name),
				"%s.%s looks like a secret, which would stand in every result", at, name)
		}
	}
}

func (v *validator) environment(s Server) {
	v.variables(s.Env, "server.env", func(name string) string {
		return "write server.env_from: [" + name + "], and export " + name + " for the program that executes the run"
	})
	v.envFrom(s.EnvFrom, s.Env, "server.env")
	if s.TokenEnv != "" && s.TokenFile != "" {
		v.fail("server.token_file", "value", "keep one of them", "server has a token_env and a token_file")
	}
	if s.TokenEnv != "" && !envForm.MatchString(s.TokenEnv) {
		v.fail("server.token_env", "value", "put the token into a variable and name that here", "server.token_env is not the name of a variable")
	}
}

// envFrom checks the names of variables whose values stand in no plan.
func (v *validator) envFrom(names []string, env map[string]string, beside string) {
	for i, name := range names {
		at := keys.Join(beside+"_from", strconv.Itoa(i))
		_, written := env[name]
		switch {
		case !envForm.MatchString(name): // what stands there may be the secret itself: it is not repeated
			v.fail(at, "value", "put the value into a variable and name that here", "%s is not the name of a variable", at)
		case written:
			v.fail(at, "value", "keep one of them", "%s %s stands in %s too", at, name, beside)
		case slices.Index(names, name) < i:
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
		at := keys.Join("server.urls", strconv.Itoa(i))
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
