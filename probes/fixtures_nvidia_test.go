package probes

import (
	"slices"
	"strings"
	"testing"
)

// nvidiaFixtures are captures of NVIDIA GPUs.
func nvidiaFixtures() []fixture {
	smi := map[string]string{
		"nvidia-smi -q": "idle-q.txt", "nvidia-smi --query-gpu=all --format=csv": "idle-query-gpu.csv", "nvidia-smi nvlink -s": "nvlink-s.txt", "nvidia-smi -L": "L.txt",
		"nvidia-smi topo -m": "topo-m.txt", "nvidia-smi --version": "version.txt",
	}
	text := map[string]string{"nvidia-smi -q": "q.txt"}
	xml := map[string]string{"nvidia-smi -x -q": "."}
	const idle = "a sentence, half of which is of the mean power; TestLoadedCapture holds the check against it"
	const mean = "the mean of a second; the SUT has the power of the instant"
	return []fixture{
		{name: "nvidia/h100-80gb-hbm3-drv590.48.01", commands: smi, skip: map[string]string{"idle_avg_w": mean}},
		{name: "nvidia/h100-mig-drv590.48.01", commands: smi},
		{name: "nvidia/l40s-drv595.80", commands: smi, skip: map[string]string{"idle_check": idle}},
		{name: "nvidia/h100-sxm5-x8-drv535.161.08-powerbrake", commands: text},
		{name: "nvidia/h100-sxm5-truncated-drv535.183.01", commands: text},
		{name: "nvidia/rtx4090-x8-drv535.154.05-swpowercap", commands: text},
		{name: "nvidia/xml-telegraf/a100-sxm4-v12.xml", commands: xml},
		{name: "nvidia/xml-telegraf/tesla-t4.xml", commands: xml},
	}
}

// nvidiaValues are found in SUTs of NVIDIA GPUs.
func nvidiaValues() map[string]func(SUT) any {
	throttled := func(reason string) func(SUT) any {
		return ofEach(func(a Accelerator) any { return slices.Contains(a.Throttle.Items, reason) })
	}
	return map[string]func(SUT) any{
		"cuda":           func(s SUT) any { return value(s.Software.CUDA) },
		"vbios":          ofFirst(func(a Accelerator) any { return value(a.VBIOS) }),
		"persistence":    ofFirst(func(a Accelerator) any { return value(a.Persistence) }),
		"ecc":            ofFirst(func(a Accelerator) any { return value(a.ECC) }),
		"nvlinks":        ofFirst(func(a Accelerator) any { return value(a.NVLinks) }),
		"mig":            ofFirst(func(a Accelerator) any { return a.Partition.Compute.Value == "MIG" }),
		"mig_instances":  ofFirst(migInstances),
		"virtualization": ofFirst(gpuMode),
		"utilization":    ofFirst(func(a Accelerator) any { return value(a.UtilPct) }),
		"memory_temp":    ofFirst(func(a Accelerator) any { return value(a.Temperatures.MemC) }),
		"bare_metal":     func(s SUT) any { return s.System.Virtualization.Value == "none" },
		"hw_power_brake": throttled("hw_power_brake_slowdown"),
		"hw_slowdown":    throttled("hw_slowdown"),
		"sw_power_cap_count": func(s SUT) any {
			count := 0.0
			for _, is := range throttled("sw_power_cap")(s).([]any) {
				if is.(bool) {
					count++
				}
			}
			return count
		},
	}
}

// gpuMode is nil for a GPU that nobody passed through, divided or emulated.
func gpuMode(a Accelerator) any {
	if a.Virtualization.Value == "none" {
		return nil
	}
	return map[string]string{"pass-through": "Pass-Through"}[a.Virtualization.Value]
}

func migInstances(a Accelerator) any {
	var list []any
	for _, i := range a.Partition.Instances.Items {
		list = append(list, i)
	}
	return list
}

// TestLoadedCapture: a GPU that computes without a process to be seen is not idle.
func TestLoadedCapture(t *testing.T) {
	for _, f := range nvidiaFixtures() {
		if f.name != "nvidia/l40s-drv595.80" {
			continue
		}
		s := Read(t.Context(), f.host(t), Program{})
		for _, c := range Evaluate(CheckRequest{SUT: s}) {
			if c.ID == "idle" && (c.State != CheckFail || !strings.Contains(strings.Join(c.Evidence, " "), "utilisation 100 %")) {
				t.Errorf("%+v", c)
			}
		}
	}
}
