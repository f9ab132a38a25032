package probes

import "slices"

// amdFixtures are captures of AMD GPUs.
func amdFixtures() []fixture {
	kfd := map[string]string{"tree": "sys/class/kfd/kfd/topology"}
	card := func(name string) map[string]string { return map[string]string{name: "sys/class/drm/" + name} }
	const topology, table = "probes/amd.TestCapturedTopologies compares it: nodes and directed links are in no fact", "probes/amd.TestCapturedMetrics compares it: fields of the driver's table"
	return []fixture{
		{name: "amd/kfd-mi210-x8-2hives", tree: kfd, skip: map[string]string{"cpu_nodes": topology, "xgmi_links": topology}},
		{name: "amd/kfd-mi300x-x8-cpx", tree: kfd, skip: map[string]string{"cpu_nodes": topology, "xgmi_links": topology}},
		{name: "amd/kfd-vega10-x1-dup", tree: kfd, skip: map[string]string{"gpu_nodes": topology}},
		{name: "amd/sysfs-rx6900xt", tree: card("card0"), skip: map[string]string{"gpu_metrics": table}},
		{name: "amd/sysfs-rx9070", tree: card("card1"), skip: map[string]string{"gpu_metrics": table, "sysfs_link_gts": "probes/amd.TestCapturedMetrics compares it: it stands beside the link's rate"}},
		{name: "amd/sysfs-vega56", tree: card("card0"), skip: map[string]string{"gpu_metrics": table}},
	}
}

// amdValues are found in SUTs of AMD GPUs.
func amdValues() map[string]func(SUT) any {
	return map[string]func(SUT) any{
		"pci_device":         ofFirst(func(a Accelerator) any { return value(a.PCI.DeviceID) }),
		"gfx":                ofFirst(func(a Accelerator) any { return value(a.Arch) }),
		"cu_per_gpu":         ofFirst(func(a Accelerator) any { return value(a.ComputeUnits) }),
		"hives":              func(s SUT) any { return value(s.Interconnect.Hives) },
		"xgmi_peers_per_gpu": ofFirst(func(a Accelerator) any { return value(a.XGMIPeers) }),
		"mode":               ofFirst(func(a Accelerator) any { return value(a.Partition.Compute) }),
		"render_minors":      renderMinors,
		"partitions":         partitions,
		"cu_per_partition":   ofFirst(func(a Accelerator) any { return value(a.Partition.ComputeUnits) }),
		"power_w":            ofFirst(func(a Accelerator) any { return value(a.PowerW) }),
		"finding":            missingPartitions,
	}
}

// renderMinors are sorted: in the SUT the order is that of the addresses.
func renderMinors(s SUT) any {
	list := ofEach(func(a Accelerator) any { return value(a.RenderMinor) })(s).([]any)
	slices.SortFunc(list, func(a, b any) int { return int(a.(float64) - b.(float64)) })
	return list
}

// partitions counts the instances of divided GPUs, and the whole ones.
func partitions(s SUT) any {
	count := 0.0
	for _, a := range s.Accelerators.Items {
		count += float64(max(1, len(a.Partition.Instances.Items)))
	}
	return count
}

// missingPartitions says of how many GPUs the count is not known for want of a partition.
func missingPartitions(s SUT) any {
	var why []string
	for _, a := range s.Accelerators.Items {
		if !a.Partition.Count.IsKnown() {
			why = append(why, a.Partition.Count.Unknown)
		}
	}
	if slices.Equal(why, []string{"the driver lists 7 of 8 partitions of this GPU"}) {
		return "one partition missing"
	}
	return why
}
