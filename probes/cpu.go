package probes

import (
	"context"
	"errors"
	"path"
	"strings"
)

const cpuDir = "/sys/devices/system/cpu"

// probeCPU reads the processors from the kernel's topology; /proc/cpuinfo only names them.
func probeCPU(_ context.Context, h Host, s *SUT) error {
	info := textFact(h, "/proc/cpuinfo")
	s.CPU = CPU{
		Vendor:    convert(info, func(t string) (string, error) { return cpuinfoValue(t, "vendor_id") }),
		Model:     convert(info, func(t string) (string, error) { return cpuinfoValue(t, "model name") }),
		NUMANodes: readNodes(h),
		Governor:  readGovernor(h),
		SMT:       convert(textFact(h, cpuDir+"/smt/active"), func(t string) (bool, error) { return parseSwitch(t) }),
	}
	for _, f := range []*Fact[string]{&s.CPU.Vendor, &s.CPU.Model} {
		if info.IsKnown() && !f.IsKnown() {
			*f = Unknown[string]("/proc/cpuinfo does not name it")
		}
	}
	readTopology(h, &s.CPU)
	return nil
}

// cpuinfoValue gives the value of a key, all of them when the machine mixes models.
func cpuinfoValue(text, key string) (string, error) {
	var values []string
	for line := range strings.Lines(text) {
		k, v, _ := strings.Cut(line, ":")
		if v = strings.TrimSpace(v); strings.TrimSpace(k) == key && v != "" {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return "", errNoValue
	}
	return strings.Join(distinct(values), " + "), nil
}

func parseSwitch(s string) (bool, error) {
	switch s {
	case "0", "N", "n", "off":
		return false, nil
	case "1", "Y", "y", "on":
		return true, nil
	}
	return false, errNoValue
}

// cpuPlace is where one logical CPU sits.
type cpuPlace struct{ pkg, core string }

// readTopology counts distinct packages and distinct cores; core_id alone is not unique.
func readTopology(h Host, c *CPU) {
	const source = cpuDir + "/cpu*/topology"
	var places []cpuPlace
	for _, dir := range h.match(cpuDir, "cpu[0-9]*") {
		pkg, err := h.text(dir + "/topology/physical_package_id")
		if err != nil {
			continue // an offline CPU has no topology
		}
		core, err := h.text(dir + "/topology/core_cpus_list")
		if err != nil {
			core, _ = h.text(dir + "/topology/thread_siblings_list")
		}
		places = append(places, cpuPlace{pkg, core})
	}
	sockets, cores, threads, err := countTopology(places)
	if err != nil {
		c.Sockets, c.CoresPerSocket, c.ThreadsPerCore = Unknown[int]("%s: %s", source, err), Unknown[int]("%s: %s", source, err), Unknown[int]("%s: %s", source, err)
		return
	}
	c.Sockets = Known(sockets, source)
	c.CoresPerSocket = Known(cores, source)
	c.ThreadsPerCore = Known(threads, source)
}

// countTopology gives sockets, cores per socket and threads per core; an error when packages or cores differ, since one number would be wrong.
func countTopology(places []cpuPlace) (sockets, cores, threads int, err error) {
	inPackage, inCore := map[string]map[string]bool{}, map[cpuPlace]int{}
	for _, p := range places {
		if p.core == "" {
			return 0, 0, 0, errors.New("has no core lists")
		}
		if inPackage[p.pkg] == nil {
			inPackage[p.pkg] = map[string]bool{}
		}
		inPackage[p.pkg][p.core] = true
		inCore[p]++
	}
	if len(places) == 0 {
		return 0, 0, 0, errors.New("lists no CPU")
	}
	for _, list := range inPackage {
		if cores != 0 && len(list) != cores {
			return 0, 0, 0, errors.New("packages have different numbers of cores")
		}
		cores = len(list)
	}
	for _, n := range inCore {
		threads = max(threads, n)
	}
	return len(inPackage), cores, threads, nil
}

// readNodes gives every NUMA node, also those without CPUs.
func readNodes(h Host) List[NUMANode] {
	const dir = "/sys/devices/system/node"
	if _, err := h.list(dir); err != nil {
		return List[NUMANode]{Unknown: err.Error()}
	}
	gpu := gpuNodes(h)
	list := List[NUMANode]{Items: []NUMANode{}}
	for _, node := range h.match(dir, "node[0-9]*") {
		id := strings.TrimPrefix(path.Base(node), "node")
		n := NUMANode{
			ID:    convert(Known(id, node), atoi),
			CPUs:  textFact(h, node+"/cpulist"),
			Bytes: convert(textFact(h, node+"/meminfo"), func(s string) (int64, error) { return meminfoBytes(s, "MemTotal") }),
		}
		switch text, err := h.text(node + "/cpulist"); {
		case err == nil && text != "":
			n.Kind = Known("cpu", node+"/cpulist")
		case gpu[id] != "":
			n.CPUs, n.Kind = Known("", node+"/cpulist"), Known("gpu", gpu[id])
		case err == nil:
			n.CPUs, n.Kind = Known("", node+"/cpulist"), Known("memory", node+"/cpulist is empty")
		default:
			n.Kind = Unknown[string]("%s", err)
		}
		list.Items = append(list.Items, n)
	}
	return list
}

// gpuNodes gives the nodes that are memory of an NVIDIA GPU, with the file that says so.
func gpuNodes(h Host) map[string]string {
	nodes := map[string]string{}
	for _, dir := range h.match("/proc/driver/nvidia/gpus", "*") {
		name := dir + "/numa_status"
		text, err := h.text(name)
		if id := keyValues(text, ":")["Node"]; err == nil && id != "" {
			nodes[id] = name
		}
	}
	return nodes
}

// readGovernor gives the governor of all policies, with counts when they differ.
func readGovernor(h Host) Fact[string] {
	const dir = cpuDir + "/cpufreq"
	var found []string
	for _, policy := range h.match(dir, "policy[0-9]*") {
		if g, err := h.text(policy + "/scaling_governor"); err == nil && g != "" {
			found = append(found, g)
		}
	}
	if len(found) > 0 {
		return Known(tally(found), dir+"/policy*/scaling_governor")
	}
	if h.isDir(dir) || h.absent(dir) {
		return NA[string]("the kernel does not control the frequency of these CPUs (no cpufreq policy)")
	}
	return Unknown[string]("%s is not in the capture", dir)
}
