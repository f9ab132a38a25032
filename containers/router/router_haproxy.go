package router

import "fmt"

// haproxySpare is what HAProxy keeps open beside two connections for each request: threads, pipes, logs.
const haproxySpare = 256

// haproxy sends a new session to the server with the fewest connections and keeps it there by a table. Hashing alone would
// give one of eight servers twice its share at 32 sessions.
func haproxy() Kind {
	return Kind{
		Name:       "haproxy",
		Program:    []string{"haproxy"},
		Entrypoint: []string{"haproxy"},
		ConfigName: "haproxy.cfg",
		Config:     haproxyConfig,
		Args:       func(s Setup) ([]string, error) { return []string{"-db", "-f", s.Config}, nil },
		VersionArg: "-v",
		Upstream:   "X-Upstream",
		Files:      func(s Setup) int { return 2*s.room() + haproxySpare },
	}
}

// haproxyConfig turns off the delay of 200 ms that HAProxy adds to small chunks, retries, and moving a session to another server.
// Servers are not checked: one that answers late under load is not down, and its sessions must not move. HAProxy has no limit on how long
// a connection to a server may be idle, so those that are not needed are halved so often that none gets as old as 5 s, when servers close them.
func haproxyConfig(s Setup) []byte {
	keep := "  http-reuse safe\n  default-server pool-purge-delay 100ms\n"
	if !s.Reuse {
		keep = "  http-reuse never\n  option http-server-close\n"
	}
	return fmt.Appendf(nil, `global
  maxconn %[3]d
  nbthread %[4]d
  log stderr format raw local0 warning
defaults
  mode http
  log global
  option http-no-delay
  option dontlognull
  timeout connect 5s
  timeout client 24h
  timeout server 24h
  timeout http-request 60s
  timeout http-keep-alive 1h
  timeout queue 24h
  retries 0
  no option redispatch
frontend clients
  bind %[6]s:%[1]d backlog 65535
  maxconn %[3]d
  default_backend servers
backend servers
  balance leastconn
  stick-table type string len 128 size 200k expire 24h
  stick on req.hdr(%[2]s)
%[7]s  http-after-response set-header X-Upstream %%[srv_name]
%[5]s`, s.Port, s.Session, s.room(), s.Workers, serverLines(s, func(_ int, host string) string { return fmt.Sprintf("  server %[1]s %[1]s\n", host) }), s.Host, keep)
}
