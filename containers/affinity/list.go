package affinity

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"assay/fault"
)

// most is the highest CPU or memory node that the kernel can name.
const most = 1 << 16

// Parse reads a list as the kernel writes it, such as "0-31,64-95", and gives its numbers in order, each once.
func Parse(list string) ([]int, error) {
	var numbers []int
	for one := range strings.SplitSeq(strings.TrimSpace(list), ",") {
		a, b, isRange := strings.Cut(strings.TrimSpace(one), "-")
		first, err := strconv.Atoi(a)
		last := first
		if err == nil && isRange {
			last, err = strconv.Atoi(b)
		}
		if err != nil || first < 0 || last < first || last >= most {
			return nil, fmt.Errorf("%q is not a list such as 0-31,64-95", list)
		}
		for n := first; n <= last; n++ {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return slices.Compact(numbers), nil
}

// Format writes numbers as the kernel does.
func Format(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); i++ {
		first := i
		for i+1 < len(numbers) && numbers[i+1] == numbers[i]+1 {
			i++
		}
		part := strconv.Itoa(numbers[first])
		if i > first {
			part += "-" + strconv.Itoa(numbers[i])
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ",")
}

// Place is where a program may run; empty lists are anywhere.
type Place struct {
	CPUs  []int
	Nodes []int // memory nodes
}

// Asked is what a plan says.
type Asked struct {
	CPUs string
	NUMA string
	GPUs []int // the memory nodes of its GPUs, for numa: gpu
}

// Find makes a place of what is asked on the machine below root. Memory nodes bring their CPUs where no CPUs are named. A CPU or node that the
// machine does not have, or that is not up, is an error.
func Find(root string, a Asked) (p Place, err error) {
	if a.NUMA != "" {
		if p.Nodes, err = nodes(root, a); err != nil {
			return Place{}, err
		}
	}
	if a.CPUs != "" {
		if p.CPUs, err = Parse(a.CPUs); err != nil {
			return Place{}, fault.New(fault.Plan, "cpus_invalid", `write CPUs such as "0-31,64-95"`, "server.cpus: %w", err)
		}
		return p, has(root, p.CPUs, "sys/devices/system/cpu/online", "cpus", "CPU")
	}
	for _, n := range p.Nodes {
		cpus, err := read(root, fmt.Sprintf("sys/devices/system/node/node%d/cpulist", n))
		if err != nil {
			return Place{}, fault.New(fault.Preflight, "numa_unavailable", "write server.cpus", "which CPUs memory node %d has is not told: %w", n, err)
		}
		p.CPUs = append(p.CPUs, cpus...)
	}
	slices.Sort(p.CPUs)
	return p, nil
}

func nodes(root string, a Asked) ([]int, error) {
	if a.NUMA == "gpu" {
		if len(a.GPUs) == 0 {
			return nil, fault.New(fault.Preflight, "numa_unavailable", "write the numbers of memory nodes into server.numa", "server.numa is gpu, but this machine does not tell which memory nodes the GPUs of the server are attached to")
		}
		return a.GPUs, has(root, a.GPUs, "sys/devices/system/node/online", "numa", "memory node")
	}
	list, err := Parse(a.NUMA)
	if err != nil {
		return nil, fault.New(fault.Plan, "numa_invalid", `write memory nodes such as "0,1", or gpu`, "server.numa: %w", err)
	}
	return list, has(root, list, "sys/devices/system/node/online", "numa", "memory node")
}

// has makes sure that all of the wanted are up.
func has(root string, wanted []int, file, key, what string) error {
	online, err := read(root, file)
	if err != nil {
		return fault.New(fault.Preflight, key+"_unavailable", "leave server."+key+" out", "server.%s cannot be checked: %w", key, err)
	}
	var absent []int
	for _, n := range wanted {
		if !slices.Contains(online, n) {
			absent = append(absent, n)
		}
	}
	if len(absent) == 0 {
		return nil
	}
	return fault.New(fault.Preflight, key+"_unavailable", "correct server."+key, "server.%s wants %s %s, which this machine does not have: it has %s", key, what, Format(absent), Format(online))
}

// read reads a file that holds one list; an empty one is of a memory node without CPUs.
func read(root, file string) ([]int, error) {
	b, err := os.ReadFile(filepath.Join(root, file))
	if err != nil || strings.TrimSpace(string(b)) == "" {
		return nil, err
	}
	return Parse(string(b))
}
