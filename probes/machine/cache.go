package machine

import (
	"cmp"
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

const cacheSource = cpuDir + "/cpu*/cache/index*"

// cacheKind is a level and a type of cache.
type cacheKind struct {
	level int
	name  string
}

// cacheSum is what all caches of a kind have.
type cacheSum struct {
	bytes     int64
	instances int
}

// readCaches sums the caches of each level and type. A cache that several CPUs share is counted once.
func readCaches(h host.Host) sut.List[sut.CPUCache] {
	sums, covered := map[cacheKind]cacheSum{}, map[string]map[int]bool{} // by index: the CPUs whose cache is counted
	for _, cpu := range cpuFolders(h) {
		for _, index := range h.Match(cpu.dir+"/cache", "index[0-9]*") {
			if !covered[path.Base(index)][cpu.number] {
				addCache(h, index, cpu.number, sums, covered)
			}
		}
	}
	if len(sums) == 0 {
		why := cacheSource + " gives no cache"
		if _, err := h.List(cpuDir + "/cpu0/cache"); err != nil {
			why = err.Error()
		}
		return sut.List[sut.CPUCache]{Unknown: why}
	}
	return cacheFacts(sums)
}

// addCache counts one cache and marks the CPUs that share it.
func addCache(h host.Host, dir string, cpu int, sums map[cacheKind]cacheSum, covered map[string]map[int]bool) {
	level, errLevel := strconv.Atoi(text(h, dir+"/level"))
	size, errSize := parseCacheSize(text(h, dir+"/size"))
	sharing, err := parseCPUList(text(h, dir+"/shared_cpu_list"))
	if errors.Join(errLevel, errSize, err) != nil {
		return
	}
	kind := cacheKind{level, strings.ToLower(text(h, dir+"/type"))}
	sum := sums[kind]
	sums[kind] = cacheSum{sum.bytes + size, sum.instances + 1}
	index := path.Base(dir)
	if covered[index] == nil {
		covered[index] = map[int]bool{}
	}
	for _, n := range append(sharing, cpu) {
		covered[index][n] = true
	}
}

// text is a file's text, "" when it cannot be read.
func text(h host.Host, name string) string {
	s, _ := h.Text(name)
	return s
}

// parseCacheSize reads "32768K".
func parseCacheSize(s string) (int64, error) {
	number := strings.TrimRight(s, "KMG")
	n, err := strconv.ParseInt(number, 10, 64)
	shift := map[string]uint{"": 0, "K": 10, "M": 20, "G": 30}
	by, ok := shift[s[len(number):]]
	if err != nil || !ok || n <= 0 || n > 1<<30 {
		return 0, sut.ErrNoValue
	}
	return n << by, nil
}

func cacheFacts(sums map[cacheKind]cacheSum) sut.List[sut.CPUCache] {
	var list sut.List[sut.CPUCache]
	for kind, sum := range sums {
		list.Items = append(list.Items, sut.CPUCache{
			Level: sut.Known(kind.level, cacheSource), Type: sut.Known(kind.name, cacheSource),
			Bytes: sut.Known(sum.bytes, cacheSource), Instances: sut.Known(sum.instances, cacheSource),
		})
	}
	slices.SortFunc(list.Items, func(a, b sut.CPUCache) int {
		return cmp.Or(cmp.Compare(a.Level.Value, b.Level.Value), cmp.Compare(a.Type.Value, b.Type.Value))
	})
	return list
}
