package probes

import (
	"reflect"
	"slices"
	"strings"
)

// joinAccelerators puts the lists of the vendors together in the order of PCI addresses. The list is unknown only when no vendor's
// probe found a device and one of them could not tell.
func joinAccelerators(to, from *List[Accelerator]) {
	to.Items = append(to.Items, from.Items...)
	if to.Unknown == "" {
		to.Unknown = from.Unknown
	}
	if len(to.Items) > 0 {
		to.Unknown = ""
	}
	slices.SortStableFunc(to.Items, func(a, b Accelerator) int {
		return strings.Compare(a.PCI.Address.Value, b.PCI.Address.Value)
	})
}

// joinInterconnect takes the part of the vendor that has devices.
func joinInterconnect(to, from *Interconnect) {
	if !reflect.ValueOf(*from).IsZero() && !to.Kind.IsKnown() {
		*to = *from
	}
}

// giveAccelerator says in every fact and list of a device why it is not known.
func giveAccelerator(a *Accelerator, why string) { giveReason(reflect.ValueOf(a).Elem(), why) }

// settleVendors marks what does not apply to a machine without a vendor's GPUs.
func settleVendors(s *SUT) {
	if s.Accelerators.Unknown != "" {
		giveReason(reflect.ValueOf(&s.Interconnect).Elem(), s.Accelerators.Unknown)
		return
	}
	if len(s.Accelerators.Items) == 0 {
		const why = "no accelerators"
		s.Interconnect = Interconnect{Kind: NA[string](why), Hives: NA[int](why)}
	}
	for _, v := range []struct {
		vendor string
		facts  []*Fact[string]
	}{
		{"AMD", []*Fact[string]{&s.Software.AMDGPU, &s.Software.ROCm}},
		{"NVIDIA", []*Fact[string]{&s.Software.NVIDIADriver, &s.Software.CUDA, &s.Software.ContainerToolkit}},
	} {
		has := slices.ContainsFunc(s.Accelerators.Items, func(a Accelerator) bool { return a.Vendor.Value == v.vendor })
		for _, f := range v.facts {
			if !has && !f.IsKnown() {
				*f = NA[string]("no " + v.vendor + " accelerator")
			}
		}
	}
}
