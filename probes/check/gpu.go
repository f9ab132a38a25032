package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/probes/sut"
)

// gpuVerdict is what a rule found on one GPU.
type gpuVerdict struct {
	state    State
	evidence string
	why      string // what hides the fact, where the state is unknown
}

// eachGPU applies a rule to every GPU that answers and that a benchmark may run on, and takes the worst answer. It does not apply where there is none.
func eachGPU(s sut.SUT, good, bad string, look func(i int, a sut.Accelerator) gpuVerdict) (Check, bool) {
	var found []gpuVerdict
	for i, a := range s.Accelerators.Items {
		if answers(a) && !s.Aside(a) {
			found = append(found, look(i, a))
		}
	}
	if len(found) == 0 {
		return unclear(cmp.Or(s.Accelerators.Unknown, silence(s), "there is no GPU")), s.Accelerators.Unknown != "" || measured(s) > 0
	}
	slices.SortStableFunc(found, func(a, b gpuVerdict) int { return b.state.rank() - a.state.rank() })
	counts, evidence := map[State]int{}, []string{}
	for _, v := range found {
		counts[v.state]++
		evidence = append(evidence, v.evidence)
	}
	switch found[0].state {
	case OK:
		return ok(good, evidence...), true
	case Unknown:
		return unclear(fmt.Sprintf("%d of %d GPUs do not tell: %s", counts[Unknown], len(found), cmp.Or(found[0].why, "not said")), evidence...), true
	}
	return Check{State: found[0].state, Text: fmt.Sprintf("%s: %d of %d GPUs.", bad, counts[Warn]+counts[Fail], len(found)), Evidence: evidence}, true
}

// silence says why no GPU answers; "" where there is none.
func silence(s sut.SUT) string {
	for _, a := range s.Accelerators.Items {
		if !s.Aside(a) {
			return "no GPU answers: " + whySilent(a)
		}
	}
	return ""
}

// whySilent is what the driver or its tool said in place of an answer.
func whySilent(a sut.Accelerator) string {
	if usable, told := a.Usable.Get(); told && !usable {
		return a.Usable.Source
	}
	return cmp.Or(a.VRAMBytes.Unknown, "its driver tells nothing of it")
}

// measured counts the GPUs that a benchmark may run on.
func measured(s sut.SUT) int {
	n := 0
	for _, a := range s.Accelerators.Items {
		if !s.Aside(a) {
			n++
		}
	}
	return n
}

// gpuFact judges a known fact; one that does not apply to a GPU is fine.
func gpuFact[T any](i int, name string, f sut.Fact[T], judge func(T) State) gpuVerdict {
	v := unknownFact(i, name, f)
	switch {
	case f.IsKnown():
		v.state = judge(f.Value)
	case f.NA != "":
		v.state = OK
	}
	return v
}

// unknownFact is the verdict of a rule that would need a fact.
func unknownFact[T any](i int, name string, f sut.Fact[T]) gpuVerdict {
	return gpuVerdict{Unknown, show(gpuPath(i, name), f), f.Reason()}
}

func gpuPath(i int, name string) string { return fmt.Sprintf("accelerators[%d].%s", i, name) }

// and puts another fact's verdict on the same GPU beside this one.
func (v gpuVerdict) and(w gpuVerdict) gpuVerdict {
	return gpuVerdict{worse(v.state, w.state), v.evidence + "; " + w.evidence, cmp.Or(v.why, w.why)}
}

// checkGPUCount counts the GPUs whose driver answers for them; the processor's own, beside cards, is not counted. Fails when one is on the
// PCI bus, or announced by its tool, and its driver does not answer, and when another number answers than the plan wants. Takes a number.
func checkGPUCount(r Request, want any) (Check, bool) {
	if r.SUT.Accelerators.Unknown != "" {
		return unclear(r.SUT.Accelerators.Unknown), true
	}
	c := countGPUs(r.SUT)
	evidence, all := slices.Concat(c.lost, c.silent, c.answering, c.aside), len(c.lost)+len(c.silent)+len(c.answering)
	n, isNumber := atLeast(want, float64(len(c.answering)))
	switch {
	case !isNumber:
		return misfit(want, "a number"), true
	case len(c.lost) > 0:
		return fail(fmt.Sprintf("Of %d GPUs %d do not answer.", all, len(c.lost)), evidence...).because(lostHint), true
	case float64(len(c.answering)) != n:
		return fail(fmt.Sprintf("Accelerators: %d, but the plan wants %v.", len(c.answering), want), evidence...), true
	case len(c.silent) > 0:
		return unclear(fmt.Sprintf("of %d GPUs %d tell no more than that they are there: %s", all, len(c.silent), c.why), evidence...), true
	case all == 0:
		return ok("This machine has no accelerator: nothing but its processors, or a server elsewhere, can be measured.", evidence...), true
	}
	return ok(fmt.Sprintf("Accelerators: %d.", all), evidence...), true
}

// lostHint is what to do about GPUs that are there and do not answer.
const lostHint = "Load or install the driver (modprobe nvidia, modprobe amdgpu), and look why it does not answer: dmesg, and nvidia-smi or amd-smi by hand. A GPU that fell off the bus needs a reboot."

// countedGPUs are lines of evidence by how their GPUs answer.
type countedGPUs struct {
	answering, lost, silent, aside []string
	why                            string // the first silent one's reason
}

func countGPUs(s sut.SUT) (c countedGPUs) {
	for i, a := range s.Accelerators.Items {
		line := show(gpuPath(i, "pci.address"), a.PCI.Address)
		switch {
		case s.Aside(a):
			c.aside = append(c.aside, line+"; a part of the processor, beside cards: not counted")
		case answers(a):
			c.answering = append(c.answering, line)
		case a.Usable.IsKnown():
			c.lost = append(c.lost, line+"; it does not answer: "+whySilent(a))
		default:
			c.silent = append(c.silent, line+"; nothing else is known of it")
			c.why = cmp.Or(c.why, whySilent(a))
		}
	}
	return c
}

// answers tells whether anything but the PCI bus knows a GPU.
func answers(a sut.Accelerator) bool {
	if usable, told := a.Usable.Get(); told {
		return usable
	}
	return a.VRAMBytes.IsKnown() || a.Arch.IsKnown() || a.PowerCapW.IsKnown() || a.ComputeUnits.IsKnown()
}

// checkDriverEqual compares all GPUs. Fails when memory or partition differ, and warns when device id, driver, firmware (each part of it) or
// power limit do. Takes the version of the driver, and fails on another.
func checkDriverEqual(r Request, want any) (Check, bool) {
	var first []string
	var parts map[string]string
	watts := ""
	return eachGPU(r.SUT, "All GPUs have the same model, driver, firmware, memory, partition and power limit.", "They differ in model, driver, firmware, memory, partition or power limit", func(i int, a sut.Accelerator) gpuVerdict {
		if a.PowerCapW.NA == "" { // else it stands at the die before
			watts = brief(a.PowerCapW)
		}
		now := []string{
			brief(a.VRAMBytes) + " bytes " + brief(a.Partition.Compute) + "/" + brief(a.Partition.Memory),
			strings.Join([]string{brief(a.PCI.DeviceID), "driver " + brief(a.DriverVersion), "VBIOS " + brief(a.VBIOS), "IFWI " + brief(a.IFWI), watts + " W"}, ", "),
		}
		v := gpuVerdict{OK, fmt.Sprintf("accelerators[%d]: %s", i, strings.Join(now, ", ")), a.DriverVersion.Reason()}
		firmware := firmwareOf(a)
		if first == nil {
			first, parts = now, firmware
		}
		for _, name := range slices.Sorted(maps.Keys(firmware)) {
			if other := parts[name]; other != "" && other != firmware[name] {
				now[1] += " " + name
				v.evidence += fmt.Sprintf(", firmware %s %s (the first has %s)", name, firmware[name], other)
			}
		}
		switch {
		case now[0] != first[0] || want != nil && a.DriverVersion.IsKnown() && a.DriverVersion.Value != fmt.Sprint(want):
			v.state = Fail
		case !a.DriverVersion.IsKnown():
			v.state = Unknown
		case want == nil && now[1] != first[1]:
			v.state = Warn
		}
		return v
	})
}

// firmwareOf gives the known versions of a GPU's firmware by the part's name.
func firmwareOf(a sut.Accelerator) map[string]string {
	versions := map[string]string{}
	for _, f := range a.Firmware.Items {
		if f.Name.IsKnown() && f.Version.IsKnown() {
			versions[f.Name.Value] = f.Version.Value
		}
	}
	return versions
}

// checkPersistence looks at NVIDIA's persistence mode. Warns when it is off.
func checkPersistence(r Request) (Check, bool) {
	return eachGPU(r.SUT, "Persistence mode is on where there is one.", "Persistence mode is off", func(i int, a sut.Accelerator) gpuVerdict {
		return gpuFact(i, "persistence", a.Persistence, warnUnless)
	})
}

// checkPartition looks at how GPUs are divided (SPX, CPX, …, MIG). Warns when one is not whole, and fails when one lists fewer parts than
// another. Takes the wanted mode, or compute and memory mode as "CPX/NPS4", and fails on another.
func checkPartition(r Request, want any) (Check, bool) {
	parts := mostOf(r.SUT, func(a sut.Accelerator) sut.Fact[int] { return a.Partition.Count })
	return eachGPU(r.SUT, "The GPUs are divided as wanted.", "Divided otherwise, or a part is missing", func(i int, a sut.Accelerator) gpuVerdict {
		count, compute := a.Partition.Count, a.Partition.Compute
		if n := len(a.Partition.Instances.Items); !count.IsKnown() && n > 0 && n < parts {
			return gpuVerdict{Fail, fmt.Sprintf("%s; other GPUs have %d", show(gpuPath(i, "partition.count"), count), parts), count.Reason()}
		}
		switch mode, known := compute.Get(); {
		case want != nil:
			return partitionAsWanted(i, a, fmt.Sprint(want))
		case known && mode == "MIG":
			return gpuVerdict{state: Warn, evidence: show(gpuPath(i, "partition.compute"), compute)}
		case !known && compute.NA == "":
			return unknownFact(i, "partition.compute", compute)
		}
		return gpuFact(i, "partition.count", count, func(n int) State { return warnUnless(n == 1) })
	})
}

func partitionAsWanted(i int, a sut.Accelerator, want string) gpuVerdict {
	compute, memory, both := strings.Cut(want, "/")
	if a.Partition.Compute.NA != "" {
		return unknownFact(i, "partition.compute", a.Partition.Compute)
	}
	v := gpuFact(i, "partition.compute", a.Partition.Compute, func(mode string) State { return failUnless(mode == compute) })
	if both {
		v = v.and(gpuFact(i, "partition.memory", a.Partition.Memory, func(mode string) State { return failUnless(mode == memory) }))
	}
	return v
}

// busyPct is the share of the time in which a GPU at rest may compute.
const busyPct = 5

// checkIdle looks for processes that hold a GPU, and at its load. Fails when there is a process, or a load of 5 % or more; monitors that
// only watch (nvidia-persistenced, dcgm, gpuagent, rocm-smi, amd-smi) may stay.
func checkIdle(r Request) (Check, bool) {
	c, applies := eachGPU(r.SUT, "No process holds a GPU.", "Not idle", func(i int, a sut.Accelerator) gpuVerdict {
		name := gpuPath(i, "processes")
		v := gpuVerdict{Unknown, name + " is not known: " + a.Processes.Unknown, a.Processes.Unknown}
		if a.Processes.Unknown == "" {
			state, names := OK, []string{}
			for _, p := range a.Processes.Items {
				names = append(names, processName(p))
				state = worse(state, failUnless(IsMonitor(p.Name.Value)))
			}
			v = gpuVerdict{state: state, evidence: fmt.Sprintf("%s = [%s]", name, strings.Join(names, ", "))}
		}
		if load, known := a.UtilPct.Get(); known {
			v = v.and(gpuVerdict{state: failUnless(load < busyPct), evidence: fmt.Sprintf("utilisation %g %%, power %s W", load, brief(a.PowerW))})
		}
		return v
	})
	if names := holders(r.SUT); c.State == Fail && len(names) > 0 {
		c.Text = strings.TrimSuffix(c.Text, ".") + ", used by " + strings.Join(names, ", ") + "."
	}
	return c, applies
}

// holders names the programs that use any GPU, each once.
func holders(s sut.SUT) (names []string) {
	for _, a := range s.Accelerators.Items {
		for _, p := range a.Processes.Items {
			if name := processName(p); !IsMonitor(p.Name.Value) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// IsMonitor tells programs that hold a GPU only to watch it.
func IsMonitor(program string) bool {
	name := program[strings.LastIndex(program, "/")+1:]
	for _, m := range []string{"nvidia-persiste", "nv-hostengine", "dcgm", "gpuagent", "rocm-smi", "amd-smi", "nvidia-smi"} {
		if strings.HasPrefix(name, m) {
			return true
		}
	}
	return false
}

// BusyAlone tells whether a GPU computes though no process but a monitor holds one: a driver may tell the mean of a time that is over.
func BusyAlone(s sut.SUT) bool {
	busy := false
	for _, a := range s.Accelerators.Items {
		busy = busy || a.UtilPct.Value >= busyPct
		for _, p := range a.Processes.Items {
			if !IsMonitor(p.Name.Value) {
				return false
			}
		}
	}
	return busy
}
