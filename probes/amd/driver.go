package amd

import (
	"path"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

const driverDir = "/sys/module/amdgpu"

// readDriver gives the loaded driver's version, the DKMS package's or the kernel's that it came with, and whose it is. Sources of
// another version that are installed beside it are named: they take over at the next start.
func readDriver(h host.Host) (version, kind sut.Fact[string]) {
	version, kind = host.TextFact(h, driverDir+"/version"), sut.Known("dkms", driverDir+"/version is there")
	if !version.IsKnown() {
		version, kind = inTree(h)
	}
	for _, dir := range h.Match("/usr/src", "amdgpu-[0-9]*") {
		installed := strings.TrimPrefix(path.Base(dir), "amdgpu-")
		if version.IsKnown() && installed != version.Value && !strings.HasPrefix(installed, version.Value+"-") {
			version.Other = dir + " is installed, and is not what is loaded"
		}
	}
	return version, kind
}

// inTree names a driver that has no version of its own by its kernel.
func inTree(h host.Host) (version, kind sut.Fact[string]) {
	kernel := host.KernelRelease(h)
	if _, err := h.List(driverDir); err != nil {
		return sut.Unknown[string]("%s", err), sut.Unknown[string]("%s", err)
	}
	kind = sut.Known("in-tree", driverDir+" has no version of its own")
	return sut.Convert(kernel, func(release string) (string, error) { return "in-tree " + release, nil }), kind
}

// readROCm gives the version of /opt/rocm, else of the only tree there is, and every tree. Newer packages have trees of their own below it.
func readROCm(h host.Host) (version sut.Fact[string], trees sut.List[string]) {
	version, trees = host.TextFact(h, "/opt/rocm/.info/version"), sut.List[string]{Items: []string{}}
	if _, err := h.List("/opt"); err != nil && !h.Absent("/opt") {
		trees.Unknown = err.Error()
	}
	var others []sut.Fact[string]
	for _, dir := range append(h.Match("/opt", "rocm-*"), h.Match("/opt/rocm", "core-*")...) {
		if f := host.TextFact(h, dir+"/.info/version"); f.IsKnown() {
			trees = sut.List[string]{Items: append(trees.Items, f.Value+" in "+dir)}
			others = append(others, f)
		}
	}
	if version.IsKnown() && len(others) == 0 {
		trees = sut.List[string]{Items: []string{version.Value + " in /opt/rocm"}}
	}
	if !version.IsKnown() && len(others) > 0 {
		version = others[len(others)-1]
	}
	if len(host.Distinct(trees.Items)) > 1 {
		version.Other = strings.Join(trees.Items, ", ")
	}
	return version, trees
}
