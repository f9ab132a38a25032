package containers

import (
	"cmp"
	"net/url"
	"strings"

	"assay/fault"
	"assay/plan"
)

// RouterKind is a program that stands between client and servers and keeps a session on one server.
type RouterKind struct {
	Name       string
	ConfigName string                                                    // file in the run's folder
	Config     func(port int, session string, upstreams []string) []byte // session is the header that carries it; upstreams are host:port
	Command    func(config string) []string                              // the whole command line, for a configuration file at that path
}

// sessionHeader is the request header by which routers keep a session on one server, unless a plan has another.
const sessionHeader = "X-Session-ID"

// routerTarget is where a router's configuration stands in its container.
const routerTarget = "/assay/"

// Routers are the kinds of router, in the order they are listed.
func Routers() []RouterKind {
	return []RouterKind{nginx(), haproxy()}
}

// RouterSpec says how to start a router in front of servers.
func RouterSpec(r plan.Router, upstreams []string, opt SpecOptions) (Spec, error) {
	if len(upstreams) == 0 {
		return Spec{}, fault.New(fault.Router, "no_upstreams", "", "a router needs a server behind it")
	}
	port, err := FreePort()
	if err != nil {
		return Spec{}, err
	}
	return routerSpec(r, upstreams, opt, port)
}

// routerSpec is the pure part of RouterSpec.
func routerSpec(r plan.Router, upstreams []string, opt SpecOptions, port int) (Spec, error) {
	kind, err := routerNamed(r.Kind)
	if err != nil {
		return Spec{}, err
	}
	hosts, err := hostsOf(upstreams)
	if err != nil {
		return Spec{}, err
	}
	file := File{Name: kind.ConfigName, Target: routerTarget + kind.ConfigName, Data: kind.Config(port, cmp.Or(opt.SessionHeader, sessionHeader), hosts)}
	s := Spec{Owner: opt.Owner, Run: opt.Run, Role: "router", Runtime: r.Runtime, Dir: opt.Dir, Port: port, HostPort: port, Files: []File{file}, StopGrace: defaultGrace, Unpinned: opt.Unpinned}
	if s.Runtime == "" {
		s.Runtime = "process"
		if r.Image != "" {
			s.Runtime = "docker"
		}
	}
	return routerCommand(s, r, kind)
}

// routerCommand sets what is started. A router shares the host's network: it reaches servers on 127.0.0.1 and adds no proxy of
// the container engine to the path.
func routerCommand(s Spec, r plan.Router, kind RouterKind) (Spec, error) {
	switch s.Runtime {
	case "process":
		s.Argv = kind.Command(s.Dir + "/" + kind.ConfigName)
		if len(r.Command) > 0 {
			s.Argv = append(append([]string{}, r.Command...), s.Argv[1:]...)
		}
	case "docker":
		argv := kind.Command(routerTarget + kind.ConfigName)
		s.Image, s.HostNet, s.Argv, s.Args = r.Image, true, argv[:1], argv[1:]
		if len(r.Command) > 0 {
			s.Argv = r.Command
		}
	default:
		return Spec{}, fault.New(fault.Plan, "runtime_unknown", "write docker or process", "a router cannot run in runtime %q", s.Runtime)
	}
	return s, nil
}

func routerNamed(name string) (RouterKind, error) {
	known := []string{"none"}
	for _, k := range Routers() {
		if k.Name == name {
			return k, nil
		}
		known = append(known, k.Name)
	}
	return RouterKind{}, fault.New(fault.Plan, "router_unknown", "write one of "+strings.Join(known, ", "), "router kind %q is not known", name)
}

// hostsOf turns base URLs into host:port.
func hostsOf(upstreams []string) ([]string, error) {
	var out []string
	for _, raw := range upstreams {
		u, err := url.Parse(raw)
		if err != nil || u.Scheme != "http" || u.Port() == "" || strings.Trim(u.Path, "/") != "" {
			return nil, fault.New(fault.Router, "upstream_invalid", "a router needs servers at http://host:port", "the router cannot stand before %q", raw)
		}
		out = append(out, u.Host)
	}
	return out, nil
}

// serverLines renders a configuration line for each server.
func serverLines(upstreams []string, line func(i int, host string) string) string {
	var b strings.Builder
	for i, host := range upstreams {
		b.WriteString(line(i, host))
	}
	return b.String()
}
