package ceiling

import (
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// cores lists the processors this process may use.
func cores() []int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	var list []int
	for cpu := range 1024 {
		if set.IsSet(cpu) {
			list = append(list, cpu)
		}
	}
	return list
}

// startOn starts a process on some of the processors, on all when none are given. A child has the affinity of the thread that made it,
// and ends with this process.
func startOn(cmd *exec.Cmd, cpus []int) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var before, set unix.CPUSet
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	if len(cpus) > 0 && unix.SchedGetaffinity(0, &before) == nil && unix.SchedSetaffinity(0, &set) == nil {
		defer func() { _ = unix.SchedSetaffinity(0, &before) }()
	}
	return cmd.Start()
}
