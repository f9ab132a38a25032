package port

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"assay/fault"
)

// The ports that Free picks from: below those that the kernel gives to connections and those of Kubernetes, which begin at 30000.
const (
	quietFirst = 20000
	quietLast  = 28999
)

// Free gives ports of 127.0.0.1 on which nobody listens at this moment. The kernel gives them to nobody else: a server may load for minutes
// before it listens, and no connection must take its port meanwhile.
func Free(n int) (ports []int, err error) {
	quiet := quietLast < kernelsFirst("/proc")
	for range n {
		l, failed := listenOnFree(quiet)
		if failed != nil {
			return nil, errors.Join(err, fmt.Errorf("find a free port: %w", failed))
		}
		defer func() { err = errors.Join(err, l.Close()) }() // not before all are found: a port that is free again may be picked twice
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

// listenOnFree takes a port that is free: a quiet one where there is one, else one of the kernel's.
func listenOnFree(quiet bool) (net.Listener, error) {
	for tries := 100; quiet && tries > 0; tries-- {
		port := quietFirst + rand.IntN(quietLast-quietFirst+1)
		if l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			return l, nil
		}
	}
	return net.Listen("tcp", "127.0.0.1:0")
}

// kernelsFirst is the first port that the kernel gives to connections; 0 when it does not say.
func kernelsFirst(proc string) (first int) {
	b, err := os.ReadFile(filepath.Join(proc, "sys/net/ipv4/ip_local_port_range"))
	if err == nil {
		_, err = fmt.Sscan(string(b), &first)
	}
	if err != nil {
		return 0
	}
	return first
}

// URL is the base URL of a port of this machine.
func URL(port int) string { return fmt.Sprintf("http://127.0.0.1:%d", port) }

// Check fails when somebody holds the port already, and names the holder where this user may see it.
func Check(layer fault.Layer, port int) error {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err == nil {
		return l.Close()
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return fault.New(layer, "port_in_use", "stop that program, or leave server.port out so that a free port is picked",
			"port %d is in use by %s", port, holder("/proc", port))
	}
	return fault.New(layer, "port_unusable", "choose another port", "port %d cannot be listened on: %w", port, err)
}

// Holder names the process of this machine that listens on a port, as far as this user may see it: "haproxy (pid 812)".
func Holder(port int) string { return holder("/proc", port) }

// holder names the process that listens on a port.
func holder(proc string, port int) string {
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
	for _, s := range listeners(proc, port) {
		return s.inode
	}
	return ""
}

// listening is a socket that listens, as the kernel's tables have it.
type listening struct{ address, inode string } // address: hex, the words of the kernel's byte order

// listeners are the sockets that listen on a port of the network of proc, which is /proc or a process's folder in it.
func listeners(proc string, port int) []listening {
	var out []listening
	for _, table := range []string{"net/tcp", "net/tcp6"} {
		b, err := os.ReadFile(filepath.Join(proc, table))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(b)) {
			f := strings.Fields(line)
			if len(f) <= 9 || f[3] != "0A" {
				continue
			}
			if address, ok := strings.CutSuffix(f[1], fmt.Sprintf(":%04X", port)); ok {
				out = append(out, listening{address, f[9]})
			}
		}
	}
	return out
}

// LoopbackOnly tells that a port is listened on, and nowhere but at the loopback.
func LoopbackOnly(proc string, port int) (address string, only bool) {
	names := map[string]string{"00000000000000000000000001000000": "::1", "0000000000000000FFFF00000100007F": "127.0.0.1"}
	for _, s := range listeners(proc, port) {
		name := names[s.address]
		if len(s.address) == 8 && strings.HasSuffix(s.address, "7F") {
			name = "127.0.0.1"
		}
		if name == "" {
			return "", false
		}
		address, only = name, true
	}
	return address, only
}

func processName(proc, pid string) string {
	b, err := os.ReadFile(filepath.Join(proc, pid, "comm"))
	if err != nil {
		return "pid " + pid
	}
	return strings.TrimSpace(string(b)) + " (pid " + pid + ")"
}
