package machine

import (
	"context"
	"errors"
	"path"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

const cpuDir = "/sys/devices/system/cpu"

// ProbeCPU reads the processors from the kernel's topology; /proc/cpuinfo only names them.
func ProbeCPU(_ context.Context, h host.Host, s *sut.SUT) error {
	info := host.TextFact(h, "/proc/cpuinfo")
	s.CPU = sut.CPU{
		Vendor:    sut.Convert(info, func(t string) (string, error) { return cpuinfoValue(t, "vendor_id") }),
		Model:     sut.Convert(info, func(t string) (string, error) { return cpuinfoValue(t, "model name") }),
		NUMANodes: readNodes(h),
		Governor:  readGovernor(h),
		SMT:       sut.Convert(host.TextFact(h, cpuDir+"/smt/active"), host.ParseSwitch),
	}
	for _, f := range []*sut.Fact[string]{&s.CPU.Vendor, &s.CPU.Model} {
		if info.IsKnown() && !f.IsKnown() {
			*f = sut.Unknown[string]("/proc/cpuinfo does not name it")
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
		return "", sut.ErrNoValue
	}
	return strings.Join(host.Distinct(values), " + "), nil
}

// cpuPlace is where one logical CPU sits.
type cpuPlace struct{ pkg, core string }

const topologySource = cpuDir + "/cpu*/topology"

// readTopology counts distinct packages and distinct cores; core_id alone is not unique.
func readTopology(h host.Host, c *sut.CPU) {
	sockets, cores, threads, err := countTopology(readPlaces(h))
	c.Sockets, c.CoresPerSocket, c.ThreadsPerCore = counted(sockets, err), counted(cores, err), counted(threads, err)
}

func counted(n int, err error) sut.Fact[int] {
	if err != nil {
		return sut.Unknown[int]("%s: %s", topologySource, err)
	}
	return sut.Known(n, topologySource)
}

// readPlaces gives the place of each CPU that is online; the others have no topology.
func readPlaces(h host.Host) []cpuPlace {
	var places []cpuPlace
	for _, dir := range h.Match(cpuDir, "cpu[0-9]*") {
		pkg, err := h.Text(dir + "/topology/physical_package_id")
		if err != nil {
			continue
		}
		core, err := h.Text(dir + "/topology/core_cpus_list")
		if err != nil {
			core, _ = h.Text(dir + "/topology/thread_siblings_list")
		}
		places = append(places, cpuPlace{pkg, core})
	}
	return places
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
func readNodes(h host.Host) sut.List[sut.NUMANode] {
	const dir = "/sys/devices/system/node"
	if _, err := h.List(dir); err != nil {
		return sut.List[sut.NUMANode]{Unknown: err.Error()}
	}
	gpu := gpuNodes(h)
	list := sut.List[sut.NUMANode]{Items: []sut.NUMANode{}}
	for _, node := range h.Match(dir, "node[0-9]*") {
		list.Items = append(list.Items, readNode(h, node, gpu))
	}
	return list
}

func readNode(h host.Host, node string, gpu map[string]string) sut.NUMANode {
	id := strings.TrimPrefix(path.Base(node), "node")
	n := sut.NUMANode{
		ID:    sut.Convert(sut.Known(id, node), strconv.Atoi),
		CPUs:  host.TextFact(h, node+"/cpulist"),
		Bytes: sut.Convert(host.TextFact(h, node+"/meminfo"), func(s string) (int64, error) { return meminfoBytes(s, "MemTotal") }),
	}
	text, err := h.Text(node + "/cpulist")
	n.Kind = nodeKind(node+"/cpulist", text, err, gpu[id])
	if n.Kind.IsKnown() && text == "" {
		n.CPUs = sut.NA[string]("a node without CPUs")
	}
	return n
}

// nodeKind tells a node with CPUs, a GPU's memory (gpu is the file that says so), and other memory.
func nodeKind(source, cpus string, err error, gpu string) sut.Fact[string] {
	switch {
	case err != nil:
		return sut.Unknown[string]("%s", err)
	case cpus != "":
		return sut.Known("cpu", source)
	case gpu != "":
		return sut.Known("gpu", gpu)
	}
	return sut.Known("memory", source+" is empty")
}

// gpuNodes gives the nodes that are memory of an NVIDIA GPU, with the file that says so.
func gpuNodes(h host.Host) map[string]string {
	nodes := map[string]string{}
	for _, dir := range h.Match("/proc/driver/nvidia/gpus", "*") {
		name := dir + "/numa_status"
		text, err := h.Text(name)
		if id := host.KeyValues(text, ":")["Node"]; err == nil && id != "" {
			nodes[id] = name
		}
	}
	return nodes
}

// readGovernor gives the governor of all policies, with counts when they differ.
func readGovernor(h host.Host) sut.Fact[string] {
	const dir = cpuDir + "/cpufreq"
	var found []string
	for _, policy := range h.Match(dir, "policy[0-9]*") {
		if g, err := h.Text(policy + "/scaling_governor"); err == nil && g != "" {
			found = append(found, g)
		}
	}
	if len(found) > 0 {
		return sut.Known(host.Tally(found), dir+"/policy*/scaling_governor")
	}
	if h.IsDir(dir) || h.Absent(dir) {
		return sut.NA[string]("the kernel does not control the frequency of these CPUs (no cpufreq policy)")
	}
	return sut.Unknown[string]("%s is not in the capture", dir)
}
