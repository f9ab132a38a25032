package deal

import (
	"slices"
	"strconv"
	"strings"

	"assay/fault"
)

// Unknown is the number of GPUs of another machine.
const Unknown = -1

// GPUs gives each of n servers its set of server.gpus. Sets that are parted by ";" are taken as they are; one list is dealt out evenly, in
// its order. "all" is dealt out as what the machine has: of none, each server gets all.
func GPUs(text string, n, have int) ([]string, error) {
	if sets, settled := asWritten(text, n); settled || text == "none" {
		return sets, nil
	}
	list := strings.Split(text, ",")
	switch first, counted := strings.CutPrefix(text, "count:"); {
	case text == "all" && have == Unknown:
		return nil, fault.New(fault.Plan, "gpus_unknown", `write one set for each server, parted by ";"`,
			"server.gpus is all, and how many GPUs there are to deal out to %d servers is not known: the container engine is on another machine", n)
	case text == "all" && have == 0: // the launch tells what that means
		return slices.Repeat([]string{"all"}, n), nil
	case text == "all":
		list = []string{"0-" + strconv.Itoa(have-1)}
	case counted:
		list = []string{"0-" + lastOf(first)}
	}
	devices, err := expand("server.gpus", list)
	if err != nil {
		return nil, err
	}
	if len(devices)%n != 0 {
		return nil, uneven("server.gpus", text, len(devices), "GPUs", n)
	}
	var out []string
	for set := range slices.Chunk(devices, len(devices)/n) {
		out = append(out, strings.Join(set, ","))
	}
	return out, nil
}

// lastOf is the index of the last of the first so many; what is no number is left for expand to refuse.
func lastOf(count string) string {
	if n, err := strconv.Atoi(count); err == nil {
		return strconv.Itoa(n - 1)
	}
	return count
}

// CPUs gives each of n servers its set of server.cpus, as GPUs does. Each range of a list is dealt out by itself where all of them can be, for
// "0-31,64-95" may be cores and the second threads of the same cores: two servers get "0-15,64-79" and "16-31,80-95".
func CPUs(text string, n int) ([]string, error) {
	if sets, settled := asWritten(text, n); settled {
		return sets, nil
	}
	cpus, err := numbers("server.cpus", text)
	if err != nil {
		return nil, err
	}
	if len(cpus)%n != 0 {
		return nil, uneven("server.cpus", text, len(cpus), "CPUs", n)
	}
	ranges := runs(cpus)
	if slices.ContainsFunc(ranges, func(r []int) bool { return len(r)%n != 0 }) {
		ranges = [][]int{cpus}
	}
	sets := make([][]int, n)
	for _, r := range ranges {
		for i := range sets {
			share := len(r) / n
			sets[i] = append(sets[i], r[i*share:(i+1)*share]...)
		}
	}
	return written(sets), nil
}

// NUMA gives each of n servers its set of server.numa, as GPUs does. Where there are fewer nodes than servers, as many servers share each.
func NUMA(text string, n int) ([]string, error) {
	if sets, settled := asWritten(text, n); settled || text == "gpu" {
		return sets, nil
	}
	nodes, err := numbers("server.numa", text)
	if err != nil {
		return nil, err
	}
	if len(nodes)%n != 0 && n%len(nodes) != 0 {
		return nil, uneven("server.numa", text, len(nodes), "memory nodes", n)
	}
	sets := make([][]int, n)
	for i := range sets {
		first := i * len(nodes) / n
		sets[i] = nodes[first:max(first+1, (i+1)*len(nodes)/n)]
	}
	return written(sets), nil
}

// asWritten: the sets that the plan writes for each server, or its one text for all of them; settled when nothing is left to deal out.
func asWritten(text string, n int) (sets []string, settled bool) {
	sets = strings.Split(text, ";")
	for i := range sets {
		sets[i] = strings.TrimSpace(sets[i])
	}
	if len(sets) == n {
		return sets, true
	}
	return slices.Repeat(sets[:1], n), text == ""
}

// most bounds a list, which no machine fills.
const most = 1 << 16

// expand writes out the ranges of a list: "0-3" is "0", "1", "2", "3"; what is no range of numbers is left as it is.
func expand(at string, list []string) ([]string, error) {
	var out []string
	for _, one := range list {
		one = strings.TrimSpace(one)
		from, to, isRange := rangeOf(one)
		if !isRange {
			out = append(out, one)
			continue
		}
		if to < from || to-from >= most {
			return nil, invalid(at, one)
		}
		for i := from; i <= to; i++ {
			out = append(out, strconv.Itoa(i))
		}
	}
	return out, nil
}

func rangeOf(text string) (from, to int, ok bool) {
	a, b, _ := strings.Cut(text, "-")
	from, err := strconv.Atoi(a)
	if err != nil {
		return 0, 0, false
	}
	to, err = strconv.Atoi(b)
	return from, to, err == nil
}

// numbers reads a list of numbers, and puts it in order.
func numbers(at, text string) ([]int, error) {
	list, err := expand(at, strings.Split(text, ","))
	if err != nil {
		return nil, err
	}
	var out []int
	for _, one := range list {
		n, err := strconv.Atoi(one)
		if err != nil || n < 0 {
			return nil, invalid(at, one)
		}
		out = append(out, n)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// runs parts numbers in order into those that follow each other without a gap.
func runs(numbers []int) [][]int {
	var out [][]int
	for i, n := range numbers {
		if i == 0 || n != numbers[i-1]+1 {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], n)
	}
	return out
}

// written is each set in the form of a plan: "0-15,64-79".
func written(sets [][]int) []string {
	var out []string
	for _, set := range sets {
		var parts []string
		for _, r := range runs(set) {
			part := strconv.Itoa(r[0])
			if last := r[len(r)-1]; last > r[0] {
				part += "-" + strconv.Itoa(last)
			}
			parts = append(parts, part)
		}
		out = append(out, strings.Join(parts, ","))
	}
	return out
}

func uneven(at, text string, have int, what string, n int) error {
	return fault.New(fault.Plan, "replicas_uneven", "write one set for each server, parted by \";\", or a number of "+what+" that the servers can share evenly",
		"%s %q is %d %s, which cannot be dealt out evenly to %d servers", at, text, have, what, n)
}

func invalid(at, one string) error {
	return fault.New(fault.Plan, "set_invalid", `write numbers and ranges such as "0-7,16"`, "%s: %q is no number and no range", at, one)
}
