package check

import (
	"fmt"

	"assay/probes/host"
)

// checkFilesLimit wants room for a connection per stream and the engine's own files. Warns below 16384. Takes the least number of open
// files, and fails below.
func checkFilesLimit(r Request, want any) (Check, bool) {
	f := r.SUT.OS.Tuning.FilesLimit
	least, isNumber := atLeast(want, 16384)
	switch {
	case !isNumber:
		return misfit(want, "the least number of open files"), true
	case f.NA != "":
		return ok("The number of open files is not limited."), true
	case !f.IsKnown():
		return unclear(f.Reason()), true
	case float64(f.Value) < least:
		return warn(fmt.Sprintf("%d open files are allowed, fewer than %g.", f.Value, least), show("os.tuning.files_limit", f)), true
	}
	return ok(fmt.Sprintf("%d open files are allowed.", f.Value), show("os.tuning.files_limit", f)), true
}

// checkCPUQuota looks for a control group that limits the CPUs of this process. Warns of one.
func checkCPUQuota(r Request) (Check, bool) {
	f := r.SUT.OS.Tuning.CgroupCPUs
	switch {
	case f.NA != "":
		return ok("No control group limits the CPU.", f.NA), true
	case !f.IsKnown():
		return unclear(f.Reason()), true
	}
	return warn(fmt.Sprintf("A control group limits this process to %g CPUs.", f.Value), show("os.tuning.cgroup_cpus", f)), true
}

// checkProcessesLimit wants room for the threads of client and engine. Warns below 8192. Takes the least number, and fails below.
func checkProcessesLimit(r Request, want any) (Check, bool) {
	f := r.SUT.OS.Tuning.ProcessesLimit
	least, isNumber := atLeast(want, 8192)
	switch {
	case !isNumber:
		return misfit(want, "the least number of processes and threads"), true
	case f.NA != "":
		return ok("The number of processes is not limited."), true
	case !f.IsKnown():
		return unclear(f.Reason()), true
	case float64(f.Value) < least:
		return warn(fmt.Sprintf("%d processes and threads are allowed, fewer than %g.", f.Value, least), show("os.tuning.processes_limit", f)), true
	}
	return ok(fmt.Sprintf("%d processes and threads are allowed.", f.Value), show("os.tuning.processes_limit", f)), true
}

// checkMemlockLimit looks at how much memory a process may lock, which remote direct memory access needs. Warns of a limit on a machine with
// InfiniBand or RoCE. Takes the least GiB, and fails below.
func checkMemlockLimit(r Request, want any) (Check, bool) {
	f, least := r.SUT.OS.Tuning.MemlockBytes, 0.0
	least, isNumber := atLeast(want, least)
	switch {
	case !isNumber:
		return misfit(want, "the least GiB that may be locked"), true
	case f.NA != "":
		return ok("The memory that a process may lock is not limited."), true
	case !f.IsKnown():
		return unclear(f.Reason()), true
	case float64(f.Value) < least*gib || want == nil && len(r.SUT.Network.InfiniBand.Items) > 0:
		return warn("A process may lock "+host.SizeText(f.Value)+" of memory.", show("os.tuning.memlock_bytes", f)), true
	}
	return ok("A process may lock "+host.SizeText(f.Value)+" of memory; nothing here needs more.", show("os.tuning.memlock_bytes", f)), true
}

// checkPorts looks whether the ports that the plan's server is to listen on are free. Fails when something listens on one.
func checkPorts(r Request) (Check, bool) {
	f := r.SUT.Network.Listening
	switch {
	case len(r.Ports) == 0:
		return Check{}, false
	case !f.IsKnown():
		return unclear(f.Reason()), true
	}
	for _, p := range f.Value {
		for _, wanted := range r.Ports {
			if p == wanted {
				return fail(r.taken(p), show("network.listening", f)), true
			}
		}
	}
	return ok(fmt.Sprintf("The plan's ports are free: %v.", r.Ports), show("network.listening", f)), true
}

// taken says that a port is taken, and by whom where that is seen.
func (r Request) taken(port int) string {
	if r.PortHolder == nil {
		return fmt.Sprintf("Something listens on port %d already.", port)
	}
	return fmt.Sprintf("Something listens on port %d already: %s.", port, r.PortHolder(port))
}
