package probes

import (
	"reflect"
	"slices"
	"strings"

	"assay/probes/sut"
)

// settleContainer marks what a container shows of itself: its system, its disks, its programs, its limits and its network are not the host's.
// What the kernel says of the hardware is the host's in a container too, and so is what an engine answers whose socket it was handed.
func settleContainer(s *SUT) {
	name, known := s.System.Container.Get()
	if !known || name == "none" {
		return
	}
	mark := func(text string) string {
		if text == "" {
			return ""
		}
		return text + " (of the " + name + " container, not of the host)"
	}
	t, w := &s.OS.Tuning, &s.Software
	own := []any{
		&s.OS.Distro, &s.Storage.Filesystems, &w.ROCm, &w.ROCmTrees, &w.CDI,
		&t.TunedProfile, &t.FilesLimit, &t.MemlockBytes, &t.StackBytes, &t.ProcessesLimit, &t.CgroupCPUs, &t.CgroupCPUSet, &t.CgroupBytes,
	}
	for _, program := range []*Fact[string]{&w.Containerd, &w.Runc, &w.Podman, &w.ContainerToolkit, &w.AMDContainerToolkit} {
		if strings.HasSuffix(program.Source, "--version") {
			own = append(own, program)
		}
	}
	if !slices.ContainsFunc(s.Network.Interfaces.Items, func(n sut.NIC) bool { return n.PCI.IsKnown() }) { // the host's network has a device
		own = append(own, &s.Network.Interfaces, &s.Network.Listening, &s.Network.Summary)
	}
	for _, part := range own {
		sut.AroundValues(reflect.ValueOf(part).Elem(), mark)
	}
}
