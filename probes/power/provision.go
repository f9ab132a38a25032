package power

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/probes/sut"
)

// The share of a machine's power that is none of its processors' and accelerators', by how it is cooled (MLPerf Endpoints, rule 4.5).
const (
	overAir    = 0.5
	overLiquid = 0.3
)

// figure is one way to a machine's provisioned power.
type figure struct {
	watts          sut.Fact[float64]
	source, method string
}

// Provision settles the provisioned power from what the other probes found. The rule of MLPerf Endpoints comes first, since figures by
// other ways cannot be held against its: a BMC tells what it may hand out, supplies what they could deliver.
func Provision(s *sut.SUT) {
	s.CPU.TDPW = designPower(s.CPU)
	ways := []figure{estimate(s), {s.Power.CapacityW, "redfish", "what the BMC may give the chassis"}, {usable(s.Power), "psu", "what the power supplies can deliver"}}
	chosen := slices.IndexFunc(ways, func(w figure) bool { return w.watts.IsKnown() })
	p := &s.Power
	if chosen < 0 {
		why := ways[0].watts.Reason()
		p.ProvisionedW, p.Source, p.Method = ways[0].watts, sut.Unknown[string]("%s", why), sut.Unknown[string]("%s", why)
		return
	}
	w := ways[chosen]
	p.ProvisionedW, p.Source, p.Method = w.watts, sut.Known(w.source, w.watts.Source), sut.Known(w.method, w.watts.Source)
	var others []string
	for _, other := range ways[chosen+1:] {
		if other.watts.IsKnown() && other.watts.Value != w.watts.Value {
			others = append(others, fmt.Sprintf("%s is %g W (%s)", other.method, other.watts.Value, other.watts.Source))
		}
	}
	if len(others) > 0 {
		p.ProvisionedW.Other = strings.Join(others, "; ") + "; the rule takes neither"
	}
}

// estimate applies the rule: processors at their TDP and accelerators at the cap in force, and a share for the rest.
func estimate(s *sut.SUT) figure {
	none := func(format string, args ...any) figure { return figure{watts: sut.Unknown[float64](format, args...)} }
	if kind := hypervisor(s.System); kind != "none" {
		return none("a guest (%s) has a part of its host's power, which is not to be seen from inside", kind)
	}
	gpus, assumed, why := acceleratorTerms(s.Accelerators)
	if why != "" {
		return none("%s", why)
	}
	cpus, why := processorTerms(s)
	if why != "" {
		return none("%s", why)
	}
	terms := append(gpus, cpus...)
	sum := 0.0
	var words []string
	for _, t := range terms {
		sum += t.watts * float64(t.count)
		words = append(words, fmt.Sprintf("%d × %g W", t.count, t.watts))
	}
	if n := s.Interconnect.Switches; n.IsKnown() && n.Value > 0 {
		assumed += fmt.Sprintf("; %d switches between the accelerators, whose TDP is not known, are left out", n.Value)
	}
	method := fmt.Sprintf("(%s) × %g: %sprocessors at their TDP; air cooling is assumed, liquid cooling (× %g) would give %g W",
		strings.Join(words, " + "), 1+overAir, assumed, 1+overLiquid, sum*(1+overLiquid))
	return figure{sut.Known(sum*(1+overAir), "the rule of MLPerf Endpoints, from power caps and TDP"), "estimate", method}
}

// term is a number of parts with the same power.
type term struct {
	count int
	watts float64
}

// acceleratorTerms counts the devices by their caps. One that is part of a processor is counted there.
func acceleratorTerms(list sut.List[sut.Accelerator]) (terms []term, assumed, why string) {
	if list.Unknown != "" {
		return nil, "", list.Unknown
	}
	below := 0
	for _, a := range list.Items {
		if a.Kind.Value == "integrated" || a.PowerCapW.NA != "" { // the limit of a package stands at its first die
			continue
		}
		watts := sut.First(a.ModulePowerCapW, a.PowerCapW, a.PowerDefaultW)
		if !watts.IsKnown() {
			return nil, "", fmt.Sprintf("the power cap of %s is not known: %s", cmp.Or(a.PCI.Address.Value, a.Name.Value, "an accelerator"), a.PowerCapW.Reason())
		}
		if !a.ModulePowerCapW.IsKnown() && a.PowerDefaultW.IsKnown() && watts.Value < a.PowerDefaultW.Value {
			below++
		}
		terms = add(terms, watts.Value)
	}
	if len(terms) > 0 {
		assumed = "accelerators at the cap in force, "
	}
	if below > 0 {
		assumed = fmt.Sprintf("accelerators at the cap in force, which is below the default for %d, ", below)
	}
	return terms, assumed, ""
}

// add counts one more part of a power.
func add(terms []term, watts float64) []term {
	if i := slices.IndexFunc(terms, func(t term) bool { return t.watts == watts }); i >= 0 {
		terms[i].count++
		return terms
	}
	return append(terms, term{1, watts})
}

// processorTerms counts the processors, which in some modules are part of the accelerator.
func processorTerms(s *sut.SUT) (terms []term, why string) {
	inModule := slices.ContainsFunc(s.Accelerators.Items, func(a sut.Accelerator) bool { return a.ModulePowerCapW.IsKnown() })
	if inModule || strings.Contains(s.CPU.Model.Value, "Instinct MI300A") {
		return nil, ""
	}
	sockets := sut.First(s.CPU.PopulatedSockets, s.CPU.Sockets)
	switch {
	case !sockets.IsKnown():
		return nil, "the number of processors is not known: " + s.CPU.Sockets.Reason()
	case !s.CPU.TDPW.IsKnown():
		return nil, "the TDP of the processors is not known: " + s.CPU.TDPW.Reason()
	}
	return []term{{sockets.Value, s.CPU.TDPW.Value}}, ""
}

// hypervisor is what the machine runs on, "none" where nothing says that it is a guest. A container shows the whole machine.
func hypervisor(m sut.System) string {
	containers := []string{"docker", "podman", "lxc", "lxc-libvirt", "systemd-nspawn", "rkt", "container-other", "openvz", "pouch", "proot"}
	kind := sut.First(m.Hypervisor, m.Virtualization)
	if !kind.IsKnown() || slices.Contains(containers, kind.Value) {
		return "none"
	}
	return kind.Value
}

// usable is what supplies deliver when as many fail as their redundancy allows.
func usable(p sut.Power) sut.Fact[float64] {
	var needed, members float64
	_, rest, _ := strings.Cut(p.Redundancy.Value, ", ")
	if n, err := fmt.Sscanf(rest, "%g of %g needed", &needed, &members); err != nil || n != 2 || !p.SuppliesW.IsKnown() || needed <= 0 || needed > members {
		return p.SuppliesW
	}
	return sut.Known(p.SuppliesW.Value*needed/members, p.SuppliesW.Source+", "+rest)
}
