package machine

import (
	"context"
	"fmt"
	"strings"
	"time"

	"assay/probes/host"
	"assay/probes/sut"
)

// ProbeSystem reads the board, its firmware and whether the machine is one.
func ProbeSystem(_ context.Context, h host.Host, s *sut.SUT) error {
	dmi := func(field string) sut.Fact[string] {
		return sut.Convert(host.TextFact(h, "/sys/class/dmi/id/"+field), boardText)
	}
	table := readFirmware(h)
	s.System = sut.System{
		Vendor:  sut.First(dmi("sys_vendor"), dmi("board_vendor")),
		Product: sut.First(dmi("product_name"), dmi("board_name")),
		BIOS: sut.BIOS{
			Version: sut.First(dmi("bios_version"), table.biosVersion()),
			Date:    sut.Convert(sut.First(dmi("bios_date"), table.biosDate()), parseBIOSDate),
		},
		BMC:            sut.Unknown[string]("the BMC is not asked: Redfish needs an address and an account"),
		Chassis:        sut.Convert(host.TextFact(h, "/sys/class/dmi/id/chassis_type"), parseChassis),
		Virtualization: readVirtualization(h),
	}
	return nil
}

// boardText refuses what board makers leave in a field they did not fill.
func boardText(s string) (string, error) {
	switch strings.ToLower(strings.TrimSuffix(s, ".")) {
	case "", "to be filled by o.e.m", "default string", "not specified", "none", "system product name", "system manufacturer", "empty", "n/a", "unknown", "0123456789":
		return "", sut.ErrNoValue
	}
	return s, nil
}

// parseBIOSDate turns the firmware's MM/DD/YYYY (or MM/DD/YY) into 2025-07-11.
func parseBIOSDate(s string) (string, error) {
	for _, layout := range []string{"01/02/2006", "01/02/06", "2006-01-02"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.Format("2006-01-02"), nil
		}
	}
	return "", fmt.Errorf("date %q", s)
}

// parseChassis names the SMBIOS chassis types that servers use.
func parseChassis(s string) (string, error) {
	names := map[string]string{
		"1": "other", "3": "desktop", "4": "low-profile desktop", "6": "mini tower", "7": "tower", "9": "laptop", "10": "notebook", "13": "all in one",
		"17": "main server chassis", "23": "rack mount", "24": "sealed-case PC", "25": "multi-system", "28": "blade", "29": "blade enclosure", "35": "mini PC",
	}
	if name, ok := names[s]; ok {
		return name, nil
	}
	return "", sut.ErrNoValue
}

// readVirtualization names the innermost layer as systemd-detect-virt does: a container first, then a virtual machine, else "none".
func readVirtualization(h host.Host) sut.Fact[string] {
	vm := readVM(h)
	for _, c := range []struct{ path, name string }{{"/.dockerenv", "docker"}, {"/run/.containerenv", "podman"}} {
		if _, err := h.Read(c.path); err == nil {
			f := sut.Known(c.name, c.path)
			if vm.IsKnown() && vm.Value != "none" {
				f.Other = fmt.Sprintf("below the container %s (%s); the container is the inner layer", vm.Value, vm.Source)
			}
			return f
		}
	}
	if name, err := h.Text("/run/systemd/container"); err == nil && name != "" {
		return sut.Known(name, "/run/systemd/container")
	}
	return vm
}

// readVM tells a virtual machine by the firmware's vendor and the processor's hypervisor flag. A Xen dom0 is not a guest although it has
// the flag.
func readVM(h host.Host) sut.Fact[string] {
	if f := firmwareVM(h); f.IsKnown() {
		return f
	}
	if f := readXen(h); f.IsKnown() {
		return f
	}
	info, err := h.Text("/proc/cpuinfo")
	if err != nil {
		return sut.Unknown[string]("%s", err)
	}
	flags, ok := cpuFlags(info)
	if !ok {
		return sut.Unknown[string]("/proc/cpuinfo has no flags that tell a hypervisor, and the firmware names none")
	}
	if !flags["hypervisor"] {
		return sut.Known("none", "/proc/cpuinfo: no hypervisor flag")
	}
	return clockVM(h)
}

// firmwareVM looks for the names that hypervisors give their firmware.
func firmwareVM(h host.Host) sut.Fact[string] {
	for _, field := range []string{"product_name", "sys_vendor", "board_vendor", "bios_vendor"} {
		name := "/sys/class/dmi/id/" + field
		text, _ := h.Text(name)
		if field == "product_name" && strings.HasSuffix(text, ".metal") {
			break // Amazon's bare-metal instances name the same vendor
		}
		if vmVendor(text) != "" {
			return sut.Known(vmVendor(text), name)
		}
	}
	return sut.Fact[string]{}
}

func readXen(h host.Host) sut.Fact[string] {
	if caps, err := h.Text("/proc/xen/capabilities"); err == nil && strings.Contains(caps, "control_d") {
		return sut.Known("none", "/proc/xen/capabilities")
	}
	if kind, err := h.Text("/sys/hypervisor/type"); err == nil && kind == "xen" {
		return sut.Known("xen", "/sys/hypervisor/type")
	}
	return sut.Fact[string]{}
}

// clockVM names a hypervisor by the clock that it offers its guests.
func clockVM(h host.Host) sut.Fact[string] {
	const clocks = "/sys/devices/system/clocksource/clocksource0/available_clocksource"
	offered, _ := h.Text(clocks)
	for _, c := range []struct{ clock, name string }{{"kvm-clock", "kvm"}, {"hyperv_clocksource", "microsoft"}, {"xen", "xen"}} {
		if strings.Contains(offered, c.clock) {
			return sut.Known(c.name, clocks)
		}
	}
	return sut.Known("vm-other", "/proc/cpuinfo: hypervisor flag")
}

// vmVendor is the hypervisor that a firmware string names, or "".
func vmVendor(s string) string {
	for _, v := range []struct{ part, name string }{
		{"KVM", "kvm"}, {"OpenStack", "kvm"}, {"KubeVirt", "kvm"}, {"Amazon EC2", "amazon"}, {"QEMU", "qemu"}, {"VMware", "vmware"}, {"VMW", "vmware"},
		{"innotek GmbH", "oracle"}, {"VirtualBox", "oracle"}, {"Xen", "xen"}, {"Bochs", "bochs"}, {"Parallels", "parallels"}, {"BHYVE", "bhyve"},
		{"Virtual Machine", "microsoft"}, {"Google Compute Engine", "google"}, {"Apple Virtualization", "apple"},
	} {
		if strings.HasPrefix(s, v.part) {
			return v.name
		}
	}
	return ""
}

func cpuFlags(cpuinfo string) (map[string]bool, bool) {
	for line := range strings.Lines(cpuinfo) {
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
