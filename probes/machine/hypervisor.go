package machine

import (
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

const clocks = "/sys/devices/system/clocksource/clocksource0/available_clocksource"

// readHypervisor tells a virtual machine by the firmware's vendor and the processor's hypervisor flag; "none" on bare metal. That KVM is loaded
// says nothing: a host has it. The first domain of Xen and the root partition of Hyper-V have the flag and are the machine's own system.
func readHypervisor(h host.Host) sut.Fact[string] {
	for _, look := range []func(host.Host) sut.Fact[string]{xenHost, firmwareVM, xenGuest} {
		if f := look(h); f.IsKnown() {
			return f
		}
	}
	info, err := h.Text(cpuinfo)
	if err != nil {
		return sut.Unknown[string]("%s", err)
	}
	flags, ok := cpuFlags(info)
	switch {
	case !ok:
		return withoutFlags(h)
	case !flags["hypervisor"]:
		return sut.Known("none", cpuinfo+": no hypervisor flag")
	}
	if f := hyperVRoot(h); f.IsKnown() {
		return f
	}
	return clockVM(h)
}

// withoutFlags decides for processors whose flags tell no hypervisor (Arm, POWER): a maker's firmware that names no hypervisor is a machine.
func withoutFlags(h host.Host) sut.Fact[string] {
	if tree := "/proc/device-tree/hypervisor/compatible"; text(h, tree) != "" {
		name, _, _ := strings.Cut(text(h, tree), "\x00")
		return sut.Known(strings.TrimPrefix(name, "linux,"), tree)
	}
	if vendor := dmi(h, "sys_vendor"); vendor.IsKnown() {
		return sut.Known("none", vendor.Source+" names no hypervisor")
	}
	return sut.Unknown[string]("%s has no flags that tell a hypervisor, and the firmware names none", cpuinfo)
}

// hyperVRoot tells the partition that owns the machine: it has the hypervisor's clock, but the firmware of a real board, or the driver with which
// it makes guests. Guests of Hyper-V have Microsoft's firmware.
func hyperVRoot(h host.Host) sut.Fact[string] {
	if driver := "/sys/class/misc/mshv"; h.IsDir(driver) {
		return sut.Known("none", driver+": the root partition of Hyper-V")
	}
	vendor := dmi(h, "sys_vendor")
	if strings.Contains(text(h, clocks), "hyperv_clocksource") && vendor.IsKnown() {
		return sut.Known("none", vendor.Source+" names a real board: the root partition of Hyper-V")
	}
	return sut.Fact[string]{}
}

// firmwareVM looks for the names that hypervisors give their firmware.
func firmwareVM(h host.Host) sut.Fact[string] {
	for _, field := range []string{"product_name", "sys_vendor", "board_vendor", "bios_vendor", "product_version"} {
		name := dmiDir + field
		if vm := vmVendor(text(h, name)); vm != "" && !rentedMetal(h, vm) {
			return sut.Known(vm, name)
		}
	}
	return sut.Fact[string]{}
}

// rentedMetal tells a whole machine of a cloud, whose firmware names the cloud as that of its guests does.
func rentedMetal(h host.Host, vm string) bool {
	if vm != "amazon" && vm != "google" {
		return false
	}
	flags, known := cpuFlags(text(h, cpuinfo))
	return strings.Contains(text(h, dmiDir+"product_name"), "metal") || known && !flags["hypervisor"]
}

func xenHost(h host.Host) sut.Fact[string] {
	const file = "/proc/xen/capabilities"
	if caps, err := h.Text(file); err == nil && strings.Contains(caps, "control_d") {
		return sut.Known("none", file+": the first domain of Xen")
	}
	return sut.Fact[string]{}
}

func xenGuest(h host.Host) sut.Fact[string] {
	const file = "/sys/hypervisor/type"
	if kind, err := h.Text(file); err == nil && kind == "xen" {
		return sut.Known("xen", file)
	}
	return sut.Fact[string]{}
}

// clockVM names a hypervisor by the clock that it offers its guests.
func clockVM(h host.Host) sut.Fact[string] {
	offered := text(h, clocks)
	for _, c := range []struct{ clock, name string }{{"kvm-clock", "kvm"}, {"hyperv_clocksource", "microsoft"}, {"xen", "xen"}} {
		if strings.Contains(offered, c.clock) {
			return sut.Known(c.name, clocks)
		}
	}
	return sut.Known("vm-other", cpuinfo+": hypervisor flag")
}

// vmVendor is the hypervisor that a firmware string names, or "".
func vmVendor(s string) string {
	for _, v := range []struct{ part, name string }{
		{"KVM", "kvm"}, {"OpenStack", "kvm"}, {"KubeVirt", "kvm"}, {"Amazon EC2", "amazon"}, {"QEMU", "qemu"}, {"VMware", "vmware"}, {"VMW", "vmware"},
		{"innotek GmbH", "oracle"}, {"VirtualBox", "oracle"}, {"Xen", "xen"}, {"Bochs", "bochs"}, {"Parallels", "parallels"}, {"BHYVE", "bhyve"},
		{"Virtual Machine", "microsoft"}, {"Hyper-V", "microsoft"}, {"Google Compute Engine", "google"}, {"Apple Virtualization", "apple"},
	} {
		if strings.HasPrefix(s, v.part) {
			return v.name
		}
	}
	return ""
}

func cpuFlags(info string) (map[string]bool, bool) {
	for line := range strings.Lines(info) {
		key, value, _ := strings.Cut(line, ":")
		if strings.TrimSpace(key) != "flags" {
			continue
		}
		flags := map[string]bool{}
		for f := range strings.FieldsSeq(value) {
			flags[f] = true
		}
		return flags, true
	}
	return nil, false
}
