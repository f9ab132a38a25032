package amdsmi

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/pci"
	"assay/probes/sut"
)

// device is a physical GPU: the tool lists each partition of one as a GPU of its own, at the next function of its address.
type device struct {
	address  string // "" when the tool gives none
	numbered bool   // whether the tool numbers partitions
	members  []int  // the tool's numbers of its partitions; facts of the whole stand at the first
}

// devices gathers what the tool lists, by the address without its function; where it gives none, a partition's number above 0 belongs to
// the device before it.
func devices(t smi) []device {
	var all []device
	numbers := map[int]int{} // the tool's number → the partition's number in its device
	for _, i := range indices(t.list, t.static) {
		list, static := t.list.of(i), t.static.of(i)
		address := addressOf(sut.First(static.text("bus.bdf"), list.text("bdf")))
		part, err := strconv.Atoi(sut.First(list.text("partition_id"), static.text("partition.partition_id")).Value)
		at := slices.IndexFunc(all, func(d device) bool { return address != "" && d.address == address })
		if address == "" && err == nil && part > 0 {
			at = len(all) - 1
		}
		if err != nil {
			part = i
		}
		numbers[i] = part
		if at < 0 {
			all = append(all, device{address: address, numbered: err == nil})
			at = len(all) - 1
		}
		all[at].members = append(all[at].members, i)
	}
	for _, d := range all {
		slices.SortStableFunc(d.members, func(a, b int) int { return numbers[a] - numbers[b] })
	}
	return all
}

// indices gives the numbers of every GPU that one of the commands lists, in order.
func indices(commands ...command) []int {
	var all []int
	for _, c := range commands {
		for _, n := range entries(c.docs) {
			if i := n.index(); i >= 0 {
				all = append(all, i)
			}
		}
	}
	return host.Distinct(all)
}

// addressOf gives the physical device's address, with function 0.
func addressOf(bdf sut.Fact[string]) string {
	a := strings.ToLower(bdf.Value)
	if !pci.IsAddress(a) {
		return ""
	}
	return a[:len(a)-1] + "0"
}

// read makes an accelerator of what the tool says of a device.
func (d device) read(t smi, h host.Host) sut.Accelerator {
	st := t.static.of(d.members[0])
	a := sut.Accelerator{
		Vendor: sut.Known("AMD", t.static.name), Name: st.text("asic.market_name", "board.product_name"), Arch: st.text("asic.target_graphics_version"),
		PCI: sut.PCI{
			Address: sut.Unknown[string]("%s names no address", t.list.name), DeviceID: sut.Convert(st.text("asic.device_id"), hexID),
			SubsystemID: sut.Convert(st.text("asic.subsystem_id"), hexID), SubsystemVendorID: sut.Convert(st.text("asic.subvendor_id"), hexID), Revision: st.text("asic.rev_id"),
		},
		ComputeUnits: d.computeUnits(t, st), VBIOS: partNumber(st), IFWI: st.text("ifwi.version"), DriverVersion: driver(st),
		SerialHash: serialHash(h, st.text("asic.asic_serial")), NUMANode: sut.Convert(st.text("numa.node"), natural),
		MemoryVendor: st.text("vram.vendor"), MemoryType: memoryType(st), ECC: ecc(st),
	}
	if d.address != "" {
		a.PCI.Address = sut.Known(d.address, t.list.name)
	}
	a.VRAMBytes = memory(st, a.PCI.DeviceID.Value)
	limits(&a, st)
	d.partition(&a, t, st)
	moving(&a, t.metric.of(d.members[0]))
	a.Link.MaxGTS, a.Link.MaxWidth = st.number("GT/s", "bus.max_pcie_speed"), sut.Convert(st.number("", "bus.max_pcie_width"), whole[int])
	if fw := bundle(t.firmware.of(d.members[0])); len(fw) > 0 {
		a.Firmware.Items = fw
	}
	sut.GiveReason(reflect.ValueOf(&a).Elem(), "amd-smi does not tell, and the kernel does not list this GPU")
	return a
}

// hexID writes an id as the kernel does: "0x74a1".
func hexID(s string) (string, error) {
	v, err := strconv.ParseUint(strings.TrimPrefix(strings.ToLower(s), "0x"), 16, 32)
	if err != nil || v == 0 {
		return "", sut.ErrNoValue
	}
	return fmt.Sprintf("0x%04x", v), nil
}

func natural(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0, sut.ErrNoValue
	}
	return n, nil
}

// computeUnits sums the units of all partitions.
func (d device) computeUnits(t smi, first answer) sut.Fact[int] {
	f := sut.Convert(sut.Convert(first.number("", "asic.num_compute_units"), positive), whole[int])
	for _, i := range d.members[1:] {
		other := sut.Convert(t.static.of(i).number("", "asic.num_compute_units"), whole[int])
		if !other.IsKnown() || !f.IsKnown() {
			return sut.Unknown[int]("%s gives it for some of %d partitions alone", t.static.name, len(d.members))
		}
		f.Value += other.Value
	}
	return f
}

// memory is the first partition's, which the tool gives as that of the whole GPU. An APU's is the system's too, and what the tool calls
// its size is the part that was set aside.
func memory(st answer, id string) sut.Fact[int64] {
	if id == "0x74a0" {
		return sut.Unknown[int64]("an APU has no memory of its own; %s gives what is set aside", st.command)
	}
	return sut.Convert(sut.Convert(st.number("bytes", "vram.size"), positive), whole[int64])
}

// memoryType is a word of the library, which took LPDDR5 for GDDR7 once; one that names no kind is none.
func memoryType(st answer) sut.Fact[string] {
	return sut.Convert(st.text("vram.type"), func(s string) (string, error) {
		if !regexp.MustCompile(`^(HBM|GDDR|LPDDR|DDR)\d*[A-Z]?$`).MatchString(s) {
			return "", sut.ErrNoValue
		}
		return s, nil
	})
}

// partNumber is the VBIOS's, which older versions gave as its version.
func partNumber(st answer) sut.Fact[string] {
	return sut.Convert(st.text("vbios.part_number", "vbios.version", "ifwi.part_number"), func(s string) (string, error) {
		if !regexp.MustCompile(`^\d{3}-`).MatchString(s) {
			return "", sut.ErrNoValue
		}
		return s, nil
	})
}

// driver is the driver's version; of a driver that came with the kernel older versions print the kernel's whole banner.
func driver(st answer) sut.Fact[string] {
	return sut.Convert(st.text("driver.version", "driver.driver_version"), driverVersion)
}

func driverVersion(s string) (string, error) {
	if m := regexp.MustCompile(`^Linux ?version ?([^( ]+)`).FindStringSubmatch(s); m != nil {
		return "in-tree " + m[1], nil
	}
	return s, nil
}

// serialHash hashes the ASIC's serial number, which is the kernel's unique id.
func serialHash(h host.Host, f sut.Fact[string]) sut.Fact[string] {
	f = sut.Convert(f, func(s string) (string, error) {
		if host.IsHash(s) {
			return host.SerialHash(s), nil
		}
		id, err := host.UniqueID(s)
		return host.SerialHash(id), err
	})
	if !f.IsKnown() && f.Unknown != "" {
		f.Unknown = "amd-smi gives no serial number" // the reason would quote it
	}
	return f
}

// ecc tells whether errors of the memory controller are corrected.
func ecc(st answer) sut.Fact[bool] {
	return sut.Convert(st.text("ras.ecc_block_state.umc"), func(s string) (bool, error) {
		switch strings.ToUpper(s) {
		case "ENABLED":
			return true, nil
		case "DISABLED":
			return false, nil
		}
		return false, sut.ErrNoValue
	})
}

// limits are in force, lowest and highest. Of parts that have two the first is the whole package's. A limit of 0 W is none.
func limits(a *sut.Accelerator, st answer) {
	watts := func(names ...string) sut.Fact[float64] { return st.number("W", names...) }
	a.PowerCapW = sut.Convert(watts("limit.ppt0.socket_power_limit", "limit.socket_power_limit", "limit.socket_power"), positive)
	a.PowerMaxW = sut.Convert(watts("limit.ppt0.max_power_limit", "limit.max_power_limit", "limit.max_power"), positive)
	a.PowerMinW = watts("limit.ppt0.min_power_limit", "limit.min_power_limit", "limit.min_power")
	if !a.PowerMaxW.IsKnown() && a.PowerMinW.Value == 0 {
		a.PowerMinW = sut.Unknown[float64]("%s: the limits read 0", st.command)
	}
	a.PowerDefaultW = watts("limit.ppt0.default_power_limit", "limit.default_power_limit", "limit.default_power")
	a.PowerDefaultW = sut.Convert(a.PowerDefaultW, positive)
}

// partition is how the device is divided: static says it in old versions, a command of its own in new ones.
func (d device) partition(a *sut.Accelerator, t smi, st answer) {
	p := answer{command: t.partition.name, why: t.partition.err}
	memory := p
	for _, doc := range entries(t.partition.docs) {
		for _, n := range append(doc.objects("current_partition"), doc.objects("current_partitions")...) {
			if n.index() == d.members[0] {
				p.node = n
			}
		}
		for _, n := range doc.objects("memory_partition") {
			if n.index() == d.members[0] {
				memory.node = n
			}
		}
	}
	a.Partition.Compute = sut.First(p.text("accelerator_type", "accelerator_partition", "compute_partition"),
		st.text("partition.accelerator_partition", "partition.compute_partition"))
	a.Partition.Memory = sut.First(p.text("memory"), memory.text("current_memory_partition"), st.text("partition.memory_partition"))
	a.Partition.Count = sut.Known(len(d.members), t.list.name)
	if d.address == "" && !d.numbered {
		a.Partition.Count = sut.Unknown[int]("%s names neither addresses nor partitions", t.list.name)
	}
	if len(d.members) > 1 { // the first has the whole device's
		share := t.static.of(d.members[1])
		a.Partition.VRAMBytes = sut.Convert(sut.Convert(share.number("bytes", "vram.size"), positive), whole[int64])
		a.Partition.ComputeUnits = sut.Convert(share.number("", "asic.num_compute_units"), whole[int])
	}
}

// bundle gives the firmware that the kernel has no file for: the bundle of the whole board.
func bundle(a answer) []sut.Firmware {
	var list []sut.Firmware
	for _, n := range a.objects("fw_list") {
		one := answer{node: n, command: a.command}
		if id := one.text("fw_id"); strings.HasPrefix(id.Value, "PLDM") {
			list = append(list, sut.Firmware{Name: sut.Known("pldm_bundle", id.Source), Version: one.text("fw_version")})
		}
	}
	return list
}

// moving are the readings of the moment.
func moving(a *sut.Accelerator, m answer) {
	count := func(paths ...string) sut.Fact[int64] { return sut.Convert(m.number("", paths...), whole[int64]) }
	a.Link.GTS = sut.Convert(m.number("GT/s", "pcie.speed"), positive)
	a.Link.Width = sut.Convert(sut.Convert(m.number("", "pcie.width"), positive), whole[int])
	a.LinkErrors = sut.LinkErrors{
		Replays: count("pcie.replay_count"), ReplayRollovers: count("pcie.replay_roll_over_count"), NAKsSent: count("pcie.nak_sent_count"),
		NAKsReceived: count("pcie.nak_received_count"), Recoveries: count("pcie.l0_to_recovery_count"),
	}
	a.RAS.Correctable, a.RAS.Uncorrectable = count("ecc.total_correctable_count"), count("ecc.total_uncorrectable_count")
	a.VRAMUsedBytes = sut.Convert(m.number("bytes", "mem_usage.used_vram"), whole[int64])
	for to, name := range map[*sut.Fact[float64]]string{&a.Temperatures.EdgeC: "edge", &a.Temperatures.HotspotC: "hotspot", &a.Temperatures.MemC: "mem"} {
		*to = sut.Convert(m.number("°C", "temperature."+name), positive)
	}
}
