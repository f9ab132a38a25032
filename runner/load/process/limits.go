package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"assay/fault"
	"assay/runner/load/stream"
)

const (
	spareFiles  = 64       // descriptors for everything but the streams
	streamBytes = 32 << 10 // memory of a stream: half of it here, half of it the kernel's
)

// limits are what this machine gives a process; 0 is unknown.
type limits struct {
	files   int   // descriptors it may have
	open    int   // descriptors it has
	ports   int   // local ports to one destination: each destination has all of them
	tracked int   // connections the kernel's tracking has room for
	memory  int64 // bytes that can be had
}

// Check fails when this machine cannot hold so many connections to targets, which share them evenly. It counts before
// anything is started, and raises this process's limit of open files as far as it may.
func Check(connections int, targets []stream.Target) error {
	l := limitsOf("/proc")
	l.open = OpenFiles()
	l.files = fileLimit(connections + l.open + spareFiles)
	return l.check(connections, targets)
}

// limitsOf reads what the kernel tells below a folder.
func limitsOf(proc string) limits {
	number := func(name string) int {
		b, err := os.ReadFile(filepath.Join(proc, name))
		if err != nil {
			return 0
		}
		n, _ := strconv.Atoi(strings.TrimSpace(string(b))) // what is no number is unknown
		return n
	}
	return limits{
		ports: localPorts(filepath.Join(proc, "sys/net/ipv4")), tracked: number("sys/net/netfilter/nf_conntrack_max"),
		memory: availableMemory(filepath.Join(proc, "meminfo")),
	}
}

// localPorts counts the ports that the kernel picks from for one destination; 0 when it does not tell.
func localPorts(dir string) int {
	b, err := os.ReadFile(filepath.Join(dir, "ip_local_port_range"))
	var low, high int
	if err != nil {
		return 0
	}
	if _, err := fmt.Sscan(string(b), &low, &high); err != nil || high < low {
		return 0
	}
	n := high - low + 1
	reserved, err := os.ReadFile(filepath.Join(dir, "ip_local_reserved_ports"))
	if err != nil {
		return n
	}
	for part := range strings.SplitSeq(strings.TrimSpace(string(reserved)), ",") {
		first, last, isRange := strings.Cut(part, "-")
		from, err := strconv.Atoi(first)
		if err != nil {
			continue
		}
		to := from
		if isRange {
			to, _ = strconv.Atoi(last)
		}
		n -= max(0, min(to, high)-max(from, low)+1)
	}
	return n
}

func availableMemory(meminfo string) int64 {
	b, err := os.ReadFile(meminfo)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if value, ok := strings.CutPrefix(line, "MemAvailable:"); ok {
			kib, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 64)
			return kib << 10
		}
	}
	return 0
}

// check compares a number of connections with the limits.
func (l limits) check(n int, targets []stream.Target) error {
	if need := n + l.open + spareFiles; l.files > 0 && l.files < need {
		return fault.New(fault.Client, "too_few_files",
			fmt.Sprintf("raise the hard limit of open files to %d or more: ulimit -Hn, LimitNOFILE of the service, --ulimit nofile of the container", need),
			"%d requests in flight need %d open files, this process may have %d", n, need, l.files)
	}
	if need, at := mostPorts(n, targets); l.ports > 0 && l.ports < need {
		return fault.New(fault.Client, "too_few_ports",
			fmt.Sprintf(`widen the range: sysctl -w net.ipv4.ip_local_port_range="1024 65535" gives 64512; or give the server several addresses (%d ports are needed to each)`, need),
			"%d requests in flight need %d local ports to %s, this machine has %d to one destination", n, need, at, l.ports)
	}
	if l.tracked > 0 && l.tracked < n && len(targets) > 0 {
		return fault.New(fault.Client, "too_few_tracked", fmt.Sprintf("sysctl -w net.netfilter.nf_conntrack_max=%d", 2*n),
			"%d requests in flight are more connections than the kernel's tracking has room for (%d); it would drop their packets", n, l.tracked)
	}
	if need := int64(n) * streamBytes; l.memory > 0 && l.memory < need {
		return fault.New(fault.Client, "too_little_memory", "free some memory, or ask for fewer requests in flight",
			"%d requests in flight need about %d MiB, %d MiB are available", n, need>>20, l.memory>>20)
	}
	return nil
}

// mostPorts is the most ports that one destination needs, and which that is. Connections to a Unix socket need none.
func mostPorts(n int, targets []stream.Target) (most int, address string) {
	if len(targets) == 0 {
		return 0, ""
	}
	share := (n + len(targets) - 1) / len(targets)
	ports := map[string]int{}
	for _, t := range targets {
		if t.Network != "tcp" {
			continue
		}
		if ports[t.Address] += share; ports[t.Address] > most {
			most, address = ports[t.Address], t.Address
		}
	}
	return most, address
}
