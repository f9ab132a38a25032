package pci

import (
	"path"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

// Numbers numbers the accelerators of all vendors in the order of their addresses, as the SUT lists them.
func Numbers(h host.Host) map[string]int {
	var all []string
	for _, vendor := range append([]string{AMD, NVIDIA}, OtherVendors(h)...) {
		cards, _ := Accelerators(h, vendor)
		for _, c := range cards {
			all = append(all, c.Address)
		}
	}
	byAddress := map[string]int{}
	for i, address := range host.Distinct(all) {
		byAddress[address] = i
	}
	return byAddress
}

// RenderMinor gives the number of a device's render node, "/dev/dri/renderD<n>".
func RenderMinor(h host.Host, dir string) sut.Fact[int] {
	for _, node := range h.Match(dir+"/drm", "renderD*") {
		return sut.Convert(sut.Known(strings.TrimPrefix(path.Base(node), "renderD"), node), strconv.Atoi)
	}
	return sut.Unknown[int]("%s/drm lists no render node", dir)
}

// NUMANode gives the nearest node of memory. Firmware that names none says -1, and a kernel has no more than 1024.
func NUMANode(h host.Host, dir string) sut.Fact[int] {
	return sut.Convert(host.IntFact[int](h, dir+"/numa_node"), func(n int) (int, error) {
		if n < 0 || n >= 1024 {
			return 0, sut.ErrNoValue
		}
		return n, nil
	})
}

// VirtualFunction tells a part of a device that its host divides, on that host. A guest is shown neither the whole device nor that it has
// a part; only a device that could be divided itself is known to be whole.
func VirtualFunction(h host.Host, dir string) sut.Fact[bool] {
	whole := dir + "/sriov_totalvfs"
	if h.IsDir(dir + "/physfn") {
		return sut.Known(true, dir+"/physfn")
	}
	if _, err := h.Text(whole); err != nil {
		return sut.Unknown[bool]("%s, and a guest is not shown which devices are parts of others", err)
	}
	return sut.Known(false, whole)
}

// Driver names the kernel's driver that has a device; "" when none has it, or the capture does not tell.
func Driver(h host.Host, dir string) string {
	link := dir + "/driver"
	real, err := h.Real(link)
	if err != nil || path.Base(real) == "driver" {
		return ""
	}
	return path.Base(real)
}
