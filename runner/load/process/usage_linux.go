package process

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// CPUTime is the processor time this process has used.
func CPUTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Resident is the memory this process holds.
func Resident() int64 {
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

// CPUWait is how long the threads of this process could have run and waited for a processor; 0 when the kernel does not tell.
// What threads that have ended had waited is not in it.
func CPUWait() time.Duration {
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

// OpenFiles is the number of descriptors this process has open; 0 when the kernel does not tell (before Linux 6.2).
func OpenFiles() int {
	info, err := os.Stat("/proc/self/fd")
	if err != nil {
		return 0
	}
	return int(info.Size())
}

// fileLimit is the number of descriptors this process may have, raised to need where the hard limit allows; 0 when unknown.
func fileLimit(need int) int {
	var files unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &files) != nil {
		return 0
	}
	if files.Cur < uint64(need) && files.Max >= uint64(need) {
		raised := unix.Rlimit{Cur: files.Max, Max: files.Max}
		if unix.Setrlimit(unix.RLIMIT_NOFILE, &raised) == nil {
			files = raised
		}
	}
	return int(min(files.Cur, 1<<40))
}
