package router

import (
	"cmp"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"assay/fault"
	"assay/plan"
)

const (
	// openStreams is what a router is made for whose load has no limit, as far as this machine lets it.
	openStreams = 10800
	// mostWorkers of a router: more take processors from the servers without need.
	mostWorkers = 16
)

// Settle finds the kind of a router of the plan, the header by which it keeps a session of those that the client sends, and its room. It fails when there is no
// such header, and when this machine cannot let it hold its requests.
func (s Setup) Settle(r plan.Router, headers []string) (Kind, Setup, error) {
	kind, err := Named(r.Kind)
	if err != nil {
		return kind, s, err
	}
	if len(headers) == 0 {
		headers = []string{DefaultHeader}
	}
	if s.Session = kind.Header(headers); s.Session == "" {
		return kind, s, fault.New(fault.Plan, "router_header", "add "+kind.Knows[0]+" to client.routing_headers, or leave that key out",
			"%s keeps a session by %s, and the client sends it in %s alone: no session would stay where it is", kind.Name, strings.Join(kind.Knows, ", "), strings.Join(headers, ", "))
	}
	s.Workers = min(runtime.NumCPU(), mostWorkers)
	s, err = fit(r, kind, s)
	return kind, s, err
}

// fit holds a router's need of files against what this machine gives a process. In docker the engine gives it, and refuses what it cannot.
func fit(r plan.Router, kind Kind, s Setup) (Setup, error) {
	known := s.Streams > 0
	s.Streams = cmp.Or(s.Streams, openStreams)
	if Runtime(r) != "process" {
		return s, nil
	}
	limit := RaiseFiles(kind.Files(s))
	for !known && kind.Files(s) > limit && s.Streams > 1 {
		s.Streams /= 2
	}
	if need := kind.Files(s); need > limit {
		return s, fault.New(fault.Router, "too_few_files", "raise the hard limit of open files to "+strconv.Itoa(need)+" or more: ulimit -Hn, LimitNOFILE of the service, --ulimit nofile of the container",
			"%s needs %d open files for %d requests at once, a process may have %d", kind.Name, need, s.Streams, limit)
	}
	return s, nil
}

// RaiseFiles raises this program's limit of open files, which what it starts inherits, as far as it may, and gives what that is.
func RaiseFiles(need int) int {
	var files syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files) != nil {
		return need // unknown
	}
	want := syscall.Rlimit{Cur: max(files.Cur, min(uint64(need), files.Max)), Max: files.Max}
	if uint64(need) > files.Max { // for root alone
		want.Cur, want.Max = uint64(need), uint64(need)
	}
	if want == files {
		return int(min(files.Cur, 1<<40))
	}
	if syscall.Setrlimit(syscall.RLIMIT_NOFILE, &want) != nil {
		want = syscall.Rlimit{Cur: files.Max, Max: files.Max}
		if syscall.Setrlimit(syscall.RLIMIT_NOFILE, &want) != nil {
			want = files
		}
	}
	return int(min(want.Cur, 1<<40))
}

// Runtime is that of a router: docker when an image is named, else process.
func Runtime(r plan.Router) string {
	if r.Runtime == "" && r.Image != "" {
		return "docker"
	}
	return cmp.Or(r.Runtime, "process")
}

// Headers are the request headers in which the client sends a session's id: those of the plan, else the usual one and what the
// plan's routers want beside it.
func Headers(p plan.Plan) []string {
	if len(p.Client.RoutingHeaders) > 0 {
		return p.Client.RoutingHeaders
	}
	headers := []string{DefaultHeader}
	for _, r := range p.Routers {
		kind, err := Named(r.Kind)
		if err == nil && kind.Header(headers) == "" {
			headers = append(headers, kind.Knows[0])
		}
	}
	return headers
}

// UpstreamHeader is the header of a router's answers that names the server which gave them; "" when it has none.
func UpstreamHeader(r plan.Router) string {
	kind, err := Named(r.Kind)
	if err != nil {
		return r.Upstream
	}
	return cmp.Or(r.Upstream, kind.Upstream)
}

// Hosts turns base URLs into host:port.
func Hosts(upstreams []string) ([]string, error) {
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
