package plan

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"assay/plan/keys"
)

// placement checks where servers run on the machine: how many, and their GPUs, CPUs and memory nodes.
func (v *validator) placement(s Server) {
	n := max(s.Replicas, 1)
	v.sets(s.GPUs, "server.gpus", gpuSet, n, `write all, none, indices such as "0,1" or "0-3", PCI addresses, UUIDs, or count:2`)
	v.sets(s.CPUs, "server.cpus", func(set string) bool { return numbersForm.MatchString(set) }, n, `write CPUs such as "0-31,64-95"`)
	v.sets(s.NUMA, "server.numa", func(set string) bool { return set == "gpu" || numbersForm.MatchString(set) }, n, `write memory nodes such as "0,1", or gpu`)
	if s.NUMA == "gpu" && s.GPUs == "none" {
		v.fail("server.numa", "value", "write the numbers of memory nodes", "server.numa is gpu, but server.gpus is none")
	}
	if s.GPUAccess == "cdi" && s.GPUs == "none" {
		v.fail("server.gpu_access", "value", "write server.gpus, or leave gpu_access out", "server.gpu_access is cdi, but server.gpus is none")
	}
	if n > 1 && s.Port != 0 && s.Port+n-1 > 65535 {
		v.fail("server.port", "value", "write a smaller one", "server.port %d leaves no ports for %d servers", s.Port, n)
	}
}

// sets checks a text that holds one set, or one for each of n servers.
func (v *validator) sets(text, at string, fits func(set string) bool, n int, hint string) {
	if text == "" {
		return
	}
	sets := strings.Split(text, ";")
	for i, set := range sets {
		sets[i] = strings.TrimSpace(set)
		if !fits(sets[i]) {
			v.fail(at, "value", hint, "%s %q is not known", at, sets[i])
			return
		}
	}
	if len(sets) > 1 && len(sets) != n {
		v.fail(at, "value", "write one set for each server, or one for all", "%s has %d sets for %d servers", at, len(sets), n)
	}
}

func gpuSet(set string) bool {
	if gpusForm.MatchString(set) || numbersForm.MatchString(set) {
		return true
	}
	return !slices.ContainsFunc(strings.Split(set, ","), func(one string) bool { return !deviceForm.MatchString(strings.TrimSpace(one)) })
}

// container checks what only a container has.
func (v *validator) container(s Server) {
	if s.ShmSize != "" && !shmForm.MatchString(s.ShmSize) {
		v.fail("server.shm_size", "value", "", "server.shm_size %q is not a size: write 16g or 512m", s.ShmSize)
	}
	if s.IPC == "host" && has(v.places, "server.shm_size") {
		v.fail("server.shm_size", "value", "keep one of them", "server.shm_size has no meaning with ipc: host")
	}
	v.mounts(s.Mounts)
	for i, file := range s.Devices {
		v.absolute(file, keys.Join("server.devices", strconv.Itoa(i)))
	}
	for i, name := range s.Capabilities {
		if !capabilityForm.MatchString(name) {
			v.fail(keys.Join("server.capabilities", strconv.Itoa(i)), "value", "write a name such as IPC_LOCK", "server.capabilities: %q is not a capability", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Ulimits)) {
		if !slices.Contains(ulimitNames(), name) {
			v.fail("server.ulimits."+name, "value", "", "server.ulimits: %q is not known%s", name, oneOf(ulimitNames()))
		} else if !ulimitForm.MatchString(s.Ulimits[name]) {
			v.fail("server.ulimits."+name, "value", "", `server.ulimits.%s %q is not a limit: write unlimited, "1048576" or "1024:1048576"`, name, s.Ulimits[name])
		}
	}
	if s.User != "" && !userForm.MatchString(s.User) {
		v.fail("server.user", "value", `write numbers, such as "1000:1000"`, "server.user %q is not known", s.User)
	}
}

// ulimitNames are the limits that a container engine knows.
func ulimitNames() []string {
	return []string{"as", "core", "cpu", "data", "fsize", "locks", "memlock", "msgqueue", "nice", "nofile", "nproc", "rss", "rtprio", "rttime", "sigpending", "stack"}
}

func (v *validator) mounts(mounts []Mount) {
	targets := map[string]bool{}
	for i, m := range mounts {
		at := keys.Join("server.mounts", strconv.Itoa(i))
		v.absolute(m.Source, at+".source")
		v.absolute(m.Target, at+".target")
		if m.Target != "" && targets[path.Clean(m.Target)] {
			v.fail(at+".target", "value", "", "%s.target %s is the target of two mounts", at, m.Target)
		}
		targets[path.Clean(m.Target)] = true
	}
}

func (v *validator) absolute(file, at string) {
	if file != "" && !path.IsAbs(file) {
		v.fail(at, "value", "", "%s %q is not an absolute path: write it from / on", at, file)
	}
}
