package machine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxCPUs bounds the numbers of CPUs and nodes; Linux knows at most 8192.
const maxCPUs = 1 << 16

// parseCPUList reads the kernel's lists of numbers, "0-3,8".
func parseCPUList(text string) ([]int, error) {
	var list []int
	for part := range strings.SplitSeq(strings.TrimSpace(text), ",") {
		if part == "" {
			continue
		}
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		first, err := strconv.Atoi(from)
		last, err2 := strconv.Atoi(to)
		if err != nil || err2 != nil || first < 0 || last < first || last >= maxCPUs || len(list) > maxCPUs {
			return nil, fmt.Errorf("list of CPUs %q", text)
		}
		for n := first; n <= last; n++ {
			list = append(list, n)
		}
	}
	return list, nil
}

// cpuList writes numbers as the kernel does.
func cpuList(numbers []int) string {
	sorted := slices.Clone(numbers)
	slices.Sort(sorted)
	sorted = slices.Compact(sorted)
	var parts []string
	for i := 0; i < len(sorted); {
		last := i
		for last+1 < len(sorted) && sorted[last+1] == sorted[last]+1 {
			last++
		}
		if last == i {
			parts = append(parts, strconv.Itoa(sorted[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", sorted[i], sorted[last]))
		}
		i = last + 1
	}
	return strings.Join(parts, ",")
}
