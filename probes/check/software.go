package check

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"assay/probes/sut"
)

// checkContainerRuntime asks for a Docker engine, and for NVIDIA's toolkit where there are NVIDIA GPUs. Warns when one does not answer; an
// engine that this user may not ask is not known.
func checkContainerRuntime(r Request) (Check, bool) {
	evidence := []string{show("software.docker", r.SUT.Software.Docker)}
	switch engine := r.SUT.Software.Docker; {
	case strings.Contains(engine.Unknown, "not readable by this user"): // one may be there
		return unclear(engine.Unknown, evidence...).because("Join the group docker or run assay as root, unless the plan uses another runtime."), true
	case !engine.IsKnown():
		return warn("No Docker engine answers.", evidence...), true
	}
	toolkit := r.SUT.Software.ContainerToolkit
	if toolkit.NA == "" && r.SUT.Accelerators.Unknown == "" && len(r.SUT.Accelerators.Items) > 0 {
		evidence = append(evidence, show("software.container_toolkit", toolkit))
		if !toolkit.IsKnown() && has(r.SUT, "NVIDIA") {
			return warn("Docker answers, but NVIDIA's container toolkit is not known.", evidence...).because("Install nvidia-container-toolkit."), true
		}
	}
	return ok("Docker "+r.SUT.Software.Docker.Value+" answers.", evidence...), true
}

// checkDriverMixed looks for a driver that was replaced while the old one is loaded, and for GPUs with different ones. Warns of both.
func checkDriverMixed(r Request) (Check, bool) {
	w := r.SUT.Software
	var evidence []string
	for name, f := range map[string]sut.Fact[string]{"software.amdgpu": w.AMDGPU, "software.nvidia_driver": w.NVIDIADriver} {
		if f.IsKnown() {
			evidence = append(evidence, show(name, f))
		}
		if f.Other != "" {
			return warn("The driver that is loaded is not the one that is installed.", show(name, f), "also "+f.Other), true
		}
	}
	versions := map[string]bool{}
	for _, a := range r.SUT.Accelerators.Items {
		if v, known := a.DriverVersion.Get(); known && !r.SUT.Aside(a) {
			versions[v] = true
		}
	}
	switch {
	case len(r.SUT.Accelerators.Items) == 0:
		return unclear(cmp.Or(r.SUT.Accelerators.Unknown, "there are no GPUs")), false
	case len(versions) > 1:
		return warn("GPUs of this machine have different drivers.", slices.Sorted(maps.Keys(versions))...), true
	case len(versions) == 0:
		return unclear(r.SUT.Accelerators.Items[0].DriverVersion.Reason(), evidence...), true
	}
	return ok("One driver, and it is the one installed.", slices.Sorted(slices.Values(evidence))...), true
}
