package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/fault"
	"assay/runner/load/stream"
)

func TestLimits(t *testing.T) {
	local, other := stream.Target{Network: "tcp", Address: "10.0.0.1:8000"}, stream.Target{Network: "tcp", Address: "10.0.0.2:8000"}
	roomy := limits{files: 200_000, open: 20, ports: 28_232, tracked: 262_144, memory: 8 << 30}
	cases := []struct {
		name    string
		limits  limits
		n       int
		targets []stream.Target
		code    string
		says    []string
	}{
		{"room for all", roomy, 10_800, []stream.Target{local}, "", nil},
		{"nothing is known", limits{}, 1 << 30, []stream.Target{local}, "", nil},
		{"files", limits{files: 10_000, open: 20}, 10_000, []stream.Target{local}, "client.too_few_files", []string{"10084", "may have 10000", "hard limit"}},
		{"ports to one destination", roomy, 30_000, []stream.Target{local}, "client.too_few_ports", []string{"30000", "10.0.0.1:8000", "28232", "ip_local_port_range"}},
		{"two destinations have twice the ports", roomy, 30_000, []stream.Target{local, other}, "", nil},
		{"one destination twice has them once", roomy, 30_000, []stream.Target{local, local}, "client.too_few_ports", []string{"30000 local ports"}},
		{"a Unix socket needs no port", roomy, 30_000, []stream.Target{{Network: "unix", Address: "/run/s"}}, "", nil},
		{"tracking", limits{tracked: 8000}, 10_800, []stream.Target{local}, "client.too_few_tracked", []string{"8000", "nf_conntrack_max=21600"}},
		{"memory", limits{memory: 256 << 20}, 10_800, []stream.Target{local}, "client.too_little_memory", []string{"337 MiB", "256 MiB"}},
		{"no bound", roomy, 0, []stream.Target{local}, "", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := c.limits.check(c.n, c.targets)
			if c.code == "" {
				if err != nil {
					t.Errorf("%v", err)
				}
				return
			}
			f := fault.Of(err, fault.Client)
			if f == nil || f.Code != c.code || f.Hint == "" {
				t.Fatalf("got %v, want %s", err, c.code)
			}
			for _, part := range c.says {
				if !strings.Contains(f.Error()+f.Hint, part) {
					t.Errorf("%q is not in: %s\n%s", part, f.Error(), f.Hint)
				}
			}
		})
	}
}

// procOf makes a folder of files as the kernel tells them.
func procOf(t *testing.T, files map[string]string) string {
	t.Helper()
	proc := t.TempDir()
	for name, text := range files {
		path := filepath.Join(proc, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return proc
}

// kernel is what a machine tells.
func kernel() map[string]string {
	return map[string]string{
		"sys/net/ipv4/ip_local_port_range":     "32768\t60999\n",
		"sys/net/ipv4/ip_local_reserved_ports": "8080,32768-32770,60990-61010,40000\n",
		"sys/net/netfilter/nf_conntrack_max":   "262144\n",
		"meminfo":                              "MemTotal:       24684084 kB\nMemAvailable:   23895300 kB\n",
	}
}

func TestLimitsAreRead(t *testing.T) {
	if got, want := limitsOf(procOf(t, kernel())), (limits{ports: 28_232 - 3 - 10 - 1, tracked: 262_144, memory: 23_895_300 << 10}); got != want {
		t.Errorf("read %+v, want %+v", got, want)
	}
	if got := limitsOf(t.TempDir()); got != (limits{}) {
		t.Errorf("a system that tells nothing: %+v", got)
	}
}

// TestSocketsOfOthersDoNotCount: a machine whose ports, files and sockets are nearly all in use by others has as many ports to one
// destination as before: the kernel gives out a port once for each destination.
func TestSocketsOfOthersDoNotCount(t *testing.T) {
	files := kernel()
	quiet := limitsOf(procOf(t, files))
	var table strings.Builder
	table.WriteString("  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n")
	for i := range 20_000 {
		fmt.Fprintf(&table, "%4d: 0100007F:%04X 0A00000A:1F90 01 00000000:00000000 00:00000000 00000000     0        0 %d 1\n", i, 32768+i, i)
	}
	files["net/tcp"], files["self/net/tcp"] = table.String(), table.String()
	files["net/sockstat"] = "sockets: used 27900\nTCP: inuse 27800 orphan 0 tw 28000 alloc 27900 mem 900\n"
	files["sys/fs/file-nr"] = "299000\t0\t300000\n"
	files["sys/net/netfilter/nf_conntrack_count"] = "28000\n"
	busy := limitsOf(procOf(t, files))
	if busy != quiet {
		t.Errorf("with sockets of others %+v, without %+v", busy, quiet)
	}
	if err := busy.check(busy.ports, []stream.Target{{Network: "tcp", Address: "10.0.0.1:8000"}}); err != nil {
		t.Errorf("all ports to one destination: %v", err)
	}
}
