package load

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"assay/fault"
)

// cpuTime is the processor time this process has used.
func cpuTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// residentBytes is the memory this process holds.
func residentBytes() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	var size, resident int64
	if err != nil {
		return heldBytes()
	}
	if _, err := fmt.Sscan(string(b), &size, &resident); err != nil {
		return heldBytes()
	}
	return resident * int64(os.Getpagesize())
}

// cpuWait is how long the threads of this process could have run and waited for a processor; 0 when the kernel does not tell.
// What threads that have ended had waited is not in it.
func cpuWait() time.Duration {
	files, err := filepath.Glob("/proc/self/task/*/schedstat")
	if err != nil {
		return 0
	}
	var sum time.Duration
	for _, name := range files {
		b, err := os.ReadFile(name)
		var ran, waited int64
		if err != nil {
			continue // the thread has ended
		}
		if _, err := fmt.Sscan(string(b), &ran, &waited); err == nil {
			sum += time.Duration(waited)
		}
	}
	return sum
}

// openFiles is the number of descriptors this process has open; 0 when the kernel does not tell (before Linux 6.2).
func openFiles() int {
	info, err := os.Stat("/proc/self/fd")
	if err != nil {
		return 0
	}
	return int(info.Size())
}

const spareFiles = 64 // descriptors for everything but the streams

// checkLimits fails when this machine cannot hold as many connections.
func checkLimits(connections int, t Target) error {
	var files unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &files) == nil && files.Cur < uint64(connections+spareFiles) {
		return fault.New(fault.Client, "too_few_files",
			fmt.Sprintf("raise the limit of open files to %d or more (ulimit -n, LimitNOFILE of the service)", connections+spareFiles),
			"%d requests in flight need %d open files, the limit is %d", connections, connections+spareFiles, files.Cur)
	}
	if t.Network != "tcp" {
		return nil
	}
	if ports := ephemeralPorts(); ports > 0 && ports < connections {
		return fault.New(fault.Client, "too_few_ports", "widen net.ipv4.ip_local_port_range",
			"%d requests in flight need as many local ports, the system gives %d", connections, ports)
	}
	return nil
}

// ephemeralPorts is the number of local ports to one address; 0 when it is not told.
func ephemeralPorts() int {
	b, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return 0
	}
	var low, high int
	if _, err := fmt.Sscan(strings.TrimSpace(string(b)), &low, &high); err != nil {
		return 0
	}
	return high - low + 1
}
