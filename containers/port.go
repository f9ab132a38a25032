package containers

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"assay/fault"
)

// FreePort gives a port of 127.0.0.1 that nobody listens on at this moment.
func FreePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// loopback is the base URL of a port of this machine.
func loopback(port int) []string { return []string{fmt.Sprintf("http://127.0.0.1:%d", port)} }

// checkPort fails when somebody holds the port already, and names the holder where this user may see it.
func checkPort(layer fault.Layer, port int) error {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err == nil {
		return l.Close()
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return fault.New(layer, "port_in_use", "stop that program, or leave server.port out so that a free port is picked",
			"port %d is in use by %s", port, portHolder("/proc", port))
	}
	return fault.New(layer, "port_unusable", "choose another port", "port %d cannot be listened on: %w", port, err)
}

// portHolder names the process that listens on a port: "haproxy (pid 812)".
func portHolder(proc string, port int) string {
	inode := listener(proc, port)
	if inode == "" {
		return "an unknown program"
	}
	links, _ := filepath.Glob(filepath.Join(proc, "[0-9]*", "fd", "*"))
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && to == "socket:["+inode+"]" {
			return processName(proc, strings.Split(strings.TrimPrefix(link, proc+"/"), "/")[0])
		}
	}
	return "a program of another user"
}

// listener finds the inode of the listening socket in the kernel's tables.
func listener(proc string, port int) string {
	for _, table := range []string{"net/tcp", "net/tcp6"} {
		b, err := os.ReadFile(filepath.Join(proc, table))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(b)) {
			f := strings.Fields(line)
			if len(f) > 9 && f[3] == "0A" && strings.HasSuffix(f[1], fmt.Sprintf(":%04X", port)) {
				return f[9]
			}
		}
	}
	return ""
}

func processName(proc, pid string) string {
	b, err := os.ReadFile(filepath.Join(proc, pid, "comm"))
	if err != nil {
		return "pid " + pid
	}
	return strings.TrimSpace(string(b)) + " (pid " + pid + ")"
}
