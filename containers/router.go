package containers

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"assay/containers/port"
	"assay/containers/router"
	"assay/fault"
	"assay/plan"
)

// RouterKind is a program that stands between client and servers and keeps a session on one server.
type RouterKind = router.Kind

// Routers are the kinds of router, in the order they are listed.
func Routers() []RouterKind { return router.Kinds() }

// RouterOptions is what the spec of a router needs beside its section of the plan.
type RouterOptions struct {
	SpecOptions
	Headers []string // request headers that carry the session, as the client sends them; nil: X-Session-ID
	Streams int      // requests that it must hold at once; 0: nobody knows
	Reuse   bool     // the servers keep a connection on which a stream has ended
	Point   string   // the first point that it serves, after which its configuration file is called
}

const (
	// routerTarget is where a router's configuration stands in its container.
	routerTarget = "/assay/"
	// leastFiles are given to a container in any case: of what else a router opens nothing is known.
	leastFiles = 4096
)

// RouterSpec says how to start a router in front of servers. What this machine cannot let it hold is refused.
func RouterSpec(r plan.Router, upstreams []string, opt RouterOptions) (Spec, error) {
	if len(upstreams) == 0 {
		return Spec{}, fault.New(fault.Router, "no_upstreams", "start a server first", "a router needs a server behind it")
	}
	ports, err := port.Free(2)
	if err != nil {
		return Spec{}, err
	}
	s := router.Setup{Host: "127.0.0.1", Port: ports[0], AdminPort: ports[1], Streams: opt.Streams, Reuse: opt.Reuse}
	kind, s, err := s.Settle(r, opt.Headers)
	if err != nil {
		return Spec{}, err
	}
	if s.Upstreams, err = router.Hosts(upstreams); err != nil {
		return Spec{}, err
	}
	return routerSpec(r, kind, s, opt)
}

// CheckRouter fails when a router cannot be what a point of so many requests at once needs: before anything is started.
func CheckRouter(r plan.Router, headers []string, streams int) error {
	_, _, err := router.Setup{Streams: streams}.Settle(r, headers)
	return err
}

// RoutingHeaders are the request headers in which the client sends a session's id.
func RoutingHeaders(p plan.Plan) []string { return router.Headers(p) }

// UpstreamHeader is the header of a router's answers that names the server which gave them; "" when it has none.
func UpstreamHeader(r plan.Router) string { return router.UpstreamHeader(r) }

// routerSpec makes the spec of a router of which everything is known.
func routerSpec(r plan.Router, kind router.Kind, s router.Setup, opt RouterOptions) (Spec, error) {
	spec := Spec{Owner: opt.Owner, Journal: opt.Journal, Run: opt.Run, Role: "router", Runtime: router.Runtime(r), Dir: opt.Dir, Port: s.Port, HostPort: s.Port, Env: r.Env, StopGrace: defaultGrace, Unpinned: opt.Unpinned}
	s.Args = r.Args
	var name, folder string
	switch spec.Runtime {
	case "process":
		folder = spec.Dir + "/"
	case "docker":
		folder = routerTarget
	default:
		return Spec{}, fault.New(fault.Plan, "runtime_unknown", "write docker or process", "a router cannot run in runtime %q", spec.Runtime)
	}
	if kind.Config != nil {
		name = freeName(spec.Dir, opt.Point, kind.ConfigName)
		s.Config = folder + name
		spec.Files = []File{{Name: name, Target: routerTarget + name, Data: kind.Config(s)}}
	}
	args, err := kind.Args(s)
	if err != nil {
		return Spec{}, err
	}
	return routerCommand(spec, r, kind, args, kind.Files(s)), nil
}

// routerCommand sets what is started. A router shares the host's network: it reaches servers on 127.0.0.1 and adds no proxy of
// the container engine to the path.
func routerCommand(s Spec, r plan.Router, kind router.Kind, args []string, files int) Spec {
	if s.Runtime == "process" {
		command := kind.Program
		if len(r.Command) > 0 {
			command = r.Command
		}
		s.Argv = slices.Concat(command, args)
		return s
	}
	s.Image, s.HostNet, s.Argv, s.Args = r.Image, true, kind.Entrypoint, args
	if len(r.Command) > 0 {
		s.Argv = r.Command
	}
	s.Rights.Ulimits = map[string]string{"nofile": strconv.Itoa(max(files, leastFiles))}
	return s
}

// freeName calls a router's configuration after the point it was started for: nginx-c32.conf, and nginx-c32-2.conf when that was tried before,
// so that what each start had is kept.
func freeName(dir, point, name string) string {
	ext := filepath.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	if point != "" {
		stem += "-" + point
	}
	for n, try := 2, stem+ext; ; n++ {
		if _, err := os.Lstat(filepath.Join(dir, try)); err != nil {
			return try
		}
		try = stem + "-" + strconv.Itoa(n) + ext
	}
}
