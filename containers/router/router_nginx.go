package router

import (
	"fmt"
	"strings"
)

// What nginx keeps open beside the streams.
const (
	nginxIdle  = 256 // idle connections to servers, of each worker
	nginxSpare = 64  // listening sockets, logs, temporary files
)

// nginx hashes the session header over the servers, consistently, so that most sessions stay when a server is added.
func nginx() Kind {
	return Kind{
		Name:       "nginx",
		Program:    []string{"nginx"},
		Entrypoint: []string{"nginx"},
		ConfigName: "nginx.conf",
		Config:     nginxConfig,
		Args: func(s Setup) ([]string, error) {
			return []string{"-p", dir(s.Config), "-c", s.Config, "-g", "daemon off;"}, nil
		},
		VersionArg: "-v",
		Upstream:   "X-Upstream",
		Files:      func(s Setup) int { return nginxConnections(s) + nginxSpare },
	}
}

// nginxConnections is what one worker must hold: two connections for each request.
func nginxConnections(s Setup) int { return 2*s.share() + nginxIdle }

// nginxConfig streams without buffering, takes large bodies, never retries on another server (a failure must be seen, not
// moved), and gives a request without session a server of its own. Idle connections to a server are dropped before the server does it.
// Each worker has a queue of its own for new connections: with a shared one the first to wake may take them all.
func nginxConfig(s Setup) []byte {
	keep, connection := fmt.Sprintf("    keepalive %d;\n    keepalive_timeout 3s;\n    keepalive_requests 1000000;\n", nginxIdle), ""
	if !s.Reuse {
		keep, connection = "", "close"
	}
	return fmt.Appendf(nil, `worker_processes %[4]d;
worker_rlimit_nofile %[6]d;
pid nginx.pid;
error_log stderr warn;
events {
  worker_connections %[5]d;
  multi_accept on;
}
http {
  access_log off;
  server_tokens off;
  client_max_body_size 512m;
  client_body_buffer_size 4m;
  client_body_temp_path nginx-temp;
  proxy_temp_path nginx-temp;
  fastcgi_temp_path nginx-temp;
  uwsgi_temp_path nginx-temp;
  scgi_temp_path nginx-temp;
  map $http_%[3]s $session {
    default $http_%[3]s;
    ""      $request_id;
  }
  upstream servers {
    hash $session consistent;
%[2]s%[7]s  }
  server {
    listen %[8]s:%[1]d reuseport backlog=65535;
    keepalive_timeout 3600s;
    keepalive_requests 1000000;
    location / {
      proxy_pass http://servers;
      proxy_http_version 1.1;
      proxy_set_header Connection "%[9]s";
      proxy_set_header Host $http_host;
      proxy_buffering off;
      proxy_request_buffering off;
      proxy_connect_timeout 5s;
      proxy_read_timeout 24h;
      proxy_send_timeout 24h;
      proxy_next_upstream off;
      add_header X-Upstream $upstream_addr always;
    }
  }
}
`, s.Port, serverLines(s, func(_ int, host string) string { return "    server " + host + " max_fails=0;\n" }),
		strings.ToLower(strings.ReplaceAll(s.Session, "-", "_")), s.Workers, nginxConnections(s), nginxConnections(s)+nginxSpare, keep, s.Host, connection)
}
