package containers

import "fmt"

// haproxy sends a new session to the server with the fewest connections and keeps it there by a table. Hashing alone would
// give one of eight servers twice its share at 32 sessions.
func haproxy() RouterKind {
	return RouterKind{
		Name:       "haproxy",
		ConfigName: "haproxy.cfg",
		Config:     haproxyConfig,
		Command:    func(config string) []string { return []string{"haproxy", "-db", "-f", config} },
	}
}

// haproxyConfig turns off the delay of 200 ms that HAProxy adds to small chunks, retries, and moving a session to another server.
// Its connection limit follows from that on files. Servers are not checked: one that answers late under load is not down, and its sessions must not move.
func haproxyConfig(port int, session string, upstreams []string) []byte {
	return fmt.Appendf(nil, `global
  fd-hard-limit 262144
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
  bind 127.0.0.1:%d backlog 65535
  default_backend servers
backend servers
  balance leastconn
  stick-table type string len 128 size 200k expire 24h
  stick on req.hdr(%s)
  http-reuse safe
  http-after-response set-header X-Upstream %%[srv_name]
%s`, port, session, serverLines(upstreams, func(i int, host string) string { return fmt.Sprintf("  server s%d %s\n", i, host) }))
}
