package machine

import (
	"fmt"
	"path"

	"assay/probes/host"
	"assay/probes/sut"
)

// readIdleStates gives the states of cpu0, which all CPUs share, and whether each CPU may use them.
func readIdleStates(h host.Host) sut.List[sut.IdleState] {
	const dir = cpuDir + "/cpu0/cpuidle"
	if !h.IsDir(dir) {
		if h.Absent(dir) {
			return sut.List[sut.IdleState]{}
		}
		_, err := h.List(dir)
		return sut.List[sut.IdleState]{Unknown: err.Error()}
	}
	cpus := cpuFolders(h)
	var list sut.List[sut.IdleState]
	for _, state := range h.Match(dir, "state[0-9]*") {
		list.Items = append(list.Items, sut.IdleState{
			Name: host.TextFact(h, state+"/name"), LatencyUS: host.IntFact[int](h, state+"/latency"), Enabled: stateEnabled(h, cpus, path.Base(state)),
		})
	}
	return list
}

func stateEnabled(h host.Host, cpus []cpuFolder, state string) sut.Fact[bool] {
	source := cpuDir + "/cpu*/cpuidle/" + state + "/disable"
	on, off := 0, 0
	for _, cpu := range cpus {
		disabled := sut.Convert(host.TextFact(h, cpu.dir+"/cpuidle/"+state+"/disable"), host.ParseSwitch)
		switch {
		case !disabled.IsKnown():
		case disabled.Value:
			off++
		default:
			on++
		}
	}
	if on+off == 0 {
		return sut.Unknown[bool]("%s cannot be read", source)
	}
	everywhere := sut.Known(off == 0, source)
	if on > 0 && off > 0 {
		everywhere.Other = fmt.Sprintf("it is off on %d of %d CPUs", off, on+off)
	}
	return everywhere
}
