package probes

import (
	"reflect"
	"slices"
	"strings"

	"assay/probes/sut"
)

// joinAccelerators puts the lists of the vendors together in the order of PCI addresses. The list is unknown only when no vendor's
// probe found a device and one of them could not tell.
func joinAccelerators(to, from *List[Accelerator]) {
	to.Items = append(to.Items, from.Items...)
	switch {
	case to.Unknown == "":
		to.Unknown = from.Unknown
	case from.Unknown != "":
		to.Unknown += "; " + from.Unknown
	}
	if len(to.Items) > 0 {
		to.Unknown = ""
	}
	slices.SortStableFunc(to.Items, func(a, b Accelerator) int {
		if a.PCI.Address.IsKnown() != b.PCI.Address.IsKnown() {
			return map[bool]int{true: -1, false: 1}[a.PCI.Address.IsKnown()] // those without an address come last
		}
		return strings.Compare(a.PCI.Address.Value, b.PCI.Address.Value)
	})
}

// joinFact takes the fact of a later probe where the first could not tell, and notes where the two disagree.
func joinFact[T any](to, from *Fact[T]) {
	if reflect.ValueOf(*to).IsZero() {
		*to = *from
		return
	}
	fillFact(reflect.ValueOf(to).Elem(), reflect.ValueOf(from).Elem(), true)
}

// joinInterconnect takes the part of the vendor that has devices.
func joinInterconnect(to, from *Interconnect) {
	if !reflect.ValueOf(*from).IsZero() && !to.Kind.IsKnown() {
		*to = *from
	}
}

// settleVendors marks what does not apply to a machine without a vendor's GPUs.
func settleVendors(s *SUT) {
	if s.Accelerators.Unknown != "" {
		sut.GiveReason(reflect.ValueOf(&s.Interconnect).Elem(), s.Accelerators.Unknown)
		return
	}
	if len(s.Accelerators.Items) == 0 {
		const why = "no accelerators"
		s.Interconnect = Interconnect{Kind: NA[string](why), Links: List[string]{Items: []string{}}, Hives: NA[int](why), Switches: NA[int](why), Manager: NA[string](why)}
	}
	has := func(vendor string) bool {
		return slices.ContainsFunc(s.Accelerators.Items, func(a Accelerator) bool { return a.Vendor.Value == vendor })
	}
	if len(s.Accelerators.Items) > 0 && !has("NVIDIA") {
		s.Interconnect.Switches, s.Interconnect.Manager = NA[int]("no NVIDIA accelerator"), NA[string]("no NVIDIA accelerator")
	}
	sut.GiveReason(reflect.ValueOf(&s.Interconnect).Elem(), "no probe tells it of these accelerators")
	for _, v := range []struct {
		vendor string
		facts  []*Fact[string]
	}{
		{"AMD", []*Fact[string]{&s.Software.AMDGPU, &s.Software.AMDGPUSource, &s.Software.ROCm, &s.Software.AMDContainerToolkit}},
		{"NVIDIA", []*Fact[string]{&s.Software.NVIDIADriver, &s.Software.CUDA, &s.Software.ContainerToolkit}},
	} {
		for _, f := range v.facts {
			if !has(v.vendor) && !f.IsKnown() {
				*f = NA[string]("no " + v.vendor + " accelerator")
			}
		}
	}
}

// settleNodes takes the memory of GPUs that appear as NUMA nodes out of the host's memory.
func settleNodes(s *SUT) {
	for _, n := range s.CPU.NUMANodes.Items {
		bytes, ok := n.Bytes.Get()
		if n.Kind.Value == "gpu" && ok && s.Memory.Bytes.IsKnown() {
			s.Memory.Bytes.Value -= bytes
			s.Memory.Bytes.Source += " less " + n.Kind.Source
		}
	}
}
