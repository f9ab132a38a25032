package containers

import (
	"fmt"
	"path"
	"strings"
)

// nginx hashes the session header over the servers, consistently, so that most sessions stay when a server is added.
func nginx() RouterKind {
	return RouterKind{
		Name:       "nginx",
		ConfigName: "nginx.conf",
		Config:     nginxConfig,
		Command: func(config string) []string {
			return []string{"nginx", "-p", path.Dir(config), "-c", config, "-g", "daemon off;"}
		},
	}
}

// nginxConfig streams without buffering, takes large bodies, never retries on another server (a failure must be seen, not
// moved), and gives a request without session a server of its own. Idle connections to a server are dropped before the server does it.
func nginxConfig(port int, session string, upstreams []string) []byte {
	return fmt.Appendf(nil, `worker_processes auto;
worker_rlimit_nofile 262144;
pid nginx.pid;
error_log stderr warn;
events {
  worker_connections 65535;
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
%[2]s    keepalive 1024;
    keepalive_timeout 3s;
    keepalive_requests 1000000;
  }
  server {
    listen 127.0.0.1:%[1]d backlog=65535;
    keepalive_timeout 3600s;
    keepalive_requests 1000000;
    location / {
      proxy_pass http://servers;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
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
`, port, serverLines(upstreams, func(_ int, host string) string { return "    server " + host + " max_fails=0;\n" }), strings.ToLower(strings.ReplaceAll(session, "-", "_")))
}
