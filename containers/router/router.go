package router

import (
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"assay/fault"
)

// DefaultHeader is the request header by which routers keep a session on one server, unless a plan has another.
const DefaultHeader = "X-Session-ID"

// Kind is a program that stands between client and servers and keeps a session on one server.
type Kind struct {
	Name       string
	Program    []string                        // what is started as a process, when the plan has no command
	Entrypoint []string                        // the same in a container; nil: the image's own
	ConfigName string                          // of its configuration file; "" for a kind that is told everything by arguments
	Config     func(s Setup) []byte            // nil without such a file
	Args       func(s Setup) ([]string, error) // after Program or Entrypoint
	Upstream   string                          // header of its answers that names the server which gave them; "" when it has none
	Knows      []string                        // request headers by which it can keep a session, the one to send first; nil: any, it is told which
	HealthPath string                          // path that answers how many healthy_workers it has; "" for a kind that passes every path on
	OwnModels  bool                            // it answers for the list of models itself
	Files      func(s Setup) int               // descriptors that one of its processes needs
	VersionArg string                          // with which its program prints its version and ends; "" for a kind that tells it elsewhere
	Package    string                          // of Python, whose metadata have its version
}

// Setup is what a router is told.
type Setup struct {
	Host      string
	Port      int
	AdminPort int      // a second port, for its own metrics; 0 when the kind needs none
	Session   string   // header that carries the session
	Upstreams []string // host:port of each server
	Streams   int      // requests that it must hold at once
	Workers   int      // processes or threads that it should use
	Reuse     bool     // connections to servers are used again; else a server is told to close each, for one that does so by itself without a word loses requests
	Config    string   // path of its configuration file, as it sees it
	Args      []string // of the plan
}

// Kinds are the kinds of router, in the order they are listed.
func Kinds() []Kind {
	return []Kind{nginx(), haproxy(), sglangRouter(), vllmRouter(), generic()}
}

// Named finds a kind of router.
func Named(name string) (Kind, error) {
	known := []string{"none"}
	for _, k := range Kinds() {
		if k.Name == name {
			return k, nil
		}
		known = append(known, k.Name)
	}
	return Kind{}, fault.New(fault.Plan, "router_unknown", "write one of "+strings.Join(known, ", "), "router kind %q is not known", name)
}

// Header is the one of the request headers that carry the session by which this kind keeps it, "" when it knows none of them.
func (k Kind) Header(sent []string) string {
	for _, h := range sent {
		if k.Knows == nil || slices.ContainsFunc(k.Knows, func(known string) bool { return strings.EqualFold(known, h) }) {
			return h
		}
	}
	return ""
}

// room is how many requests a router is made for: a tenth more than the point's, and those that look at it.
func (s Setup) room() int { return s.Streams + s.Streams/10 + 64 }

// urls are the base URLs of the servers.
func (s Setup) urls() []string {
	var out []string
	for _, host := range s.Upstreams {
		out = append(out, "http://"+host)
	}
	return out
}

// share is how many of the requests one of its processes may meet: the kernel spreads connections over them by chance.
func (s Setup) share() int {
	mean := float64(s.room()) / float64(s.Workers)
	return min(s.room(), int(mean+4*math.Sqrt(mean))+64)
}

// serverLines renders a configuration line for each server.
func serverLines(s Setup, line func(i int, host string) string) string {
	var b strings.Builder
	for i, host := range s.Upstreams {
		b.WriteString(line(i, host))
	}
	return b.String()
}

// option is an argument of a kind and its value; with nil a switch.
type option struct {
	name   string
	values []string
}

// arguments puts a kind's options before the arguments of the plan, but for those that the plan sets itself.
func arguments(plan []string, options ...option) []string {
	said := map[string]bool{}
	for _, a := range plan {
		word, _, _ := strings.Cut(a, "=")
		said[word] = true
	}
	var out []string
	for _, o := range options {
		if !said[o.name] {
			out = append(append(out, o.name), o.values...)
		}
	}
	return append(out, plan...)
}

func number(n int) []string { return []string{strconv.Itoa(n)} }

func dir(config string) string { return path.Dir(config) }
