package amd

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/pci"
	"assay/probes/sut"
)

// product is what is known of a model beyond what its driver tells.
type product struct {
	name, memory string
	gib          int64 // nominal memory of the device, of one die of an MI250
	virtual      bool  // a virtual function
	unified      bool  // a processor with a GPU
	dies         bool  // two dies of a package are two devices, of which the first reports for both
}

// products names models by their device id, since the driver's own names differ by version and are often empty.
func products() map[string]product {
	return map[string]product{
		"0x738c": {name: "AMD Instinct MI100", memory: "HBM2", gib: 32},
		"0x738e": {name: "AMD Instinct MI100", memory: "HBM2", gib: 32},
		"0x7408": {name: "AMD Instinct MI250X", memory: "HBM2e", gib: 64, dies: true},
		"0x740c": {name: "AMD Instinct MI250X / MI250", memory: "HBM2e", gib: 64, dies: true}, // both have this id
		"0x740f": {name: "AMD Instinct MI210", memory: "HBM2e", gib: 64},
		"0x74a0": {name: "AMD Instinct MI300A", memory: "HBM3", gib: 128, unified: true},
		"0x74a1": {name: "AMD Instinct MI300X", memory: "HBM3", gib: 192},
		"0x74a2": {name: "AMD Instinct MI308X", memory: "HBM3", gib: 192},
		"0x74a5": {name: "AMD Instinct MI325X", memory: "HBM3E", gib: 256},
		"0x74a8": {name: "AMD Instinct MI308X", memory: "HBM3", gib: 192},
		"0x74b5": {name: "AMD Instinct MI300X VF", memory: "HBM3", gib: 192, virtual: true},
		"0x74b6": {name: "AMD Instinct MI308X VF", memory: "HBM3", gib: 192, virtual: true},
		"0x74b9": {name: "AMD Instinct MI325X VF", memory: "HBM3E", gib: 256, virtual: true},
		"0x74bc": {name: "AMD Instinct MI308X VF", memory: "HBM3", gib: 192, virtual: true},
		"0x75a0": {name: "AMD Instinct MI350X", memory: "HBM3E", gib: 288},
		"0x75a3": {name: "AMD Instinct MI355X", memory: "HBM3E", gib: 288},
		"0x75b0": {name: "AMD Instinct MI350X VF", memory: "HBM3E", gib: 288, virtual: true},
		"0x75b3": {name: "AMD Instinct MI355X VF", memory: "HBM3E", gib: 288, virtual: true},
	}
}

// byTable is the source of what the table of products tells.
func (g gpu) byTable() string { return "table of products: PCI device id " + g.ids.DeviceID.Value }

// identity is the device's place and ids, from the bus or, without it, from the topology.
func (g gpu) identity() sut.PCI {
	if g.kfd == nil || g.card.Dir != "" {
		return pci.Identity(g.h, g.card)
	}
	return sut.PCI{
		Address: sut.Known(g.kfd.address, g.kfd.source()), DeviceID: sut.Convert(g.property("device_id"), hexID), SubsystemID: pci.ID(g.h, g.file("subsystem_device")),
		SubsystemVendorID: pci.ID(g.h, g.file("subsystem_vendor")), Revision: pci.ID(g.h, g.file("revision")),
	}
}

// hexID writes the topology's decimal id as the bus does.
func hexID(s string) (string, error) {
	n, err := strconv.ParseUint(s, 10, 16)
	return fmt.Sprintf("0x%04x", n), err
}

// name is the product's: by our table, by that of the graphics library, by the board, by the list of PCI ids.
func (g gpu) name() sut.Fact[string] {
	if g.product.name != "" {
		return sut.Known(g.product.name, g.byTable())
	}
	board := g.told("product_name")
	if f := sut.First(libraryName(g.h, g.ids.DeviceID, g.ids.Revision), board); f.IsKnown() || !g.ids.DeviceID.IsKnown() {
		return f
	}
	return sut.First(pci.Names(g.h)(pci.AMD, g.ids.DeviceID.Value), board)
}

// libraryName looks a product up in the list of the graphics library libdrm.
func libraryName(h host.Host, id, revision sut.Fact[string]) sut.Fact[string] {
	for _, list := range []string{"/usr/share/libdrm/amdgpu.ids", "/opt/amdgpu/share/libdrm/amdgpu.ids"} {
		text, err := h.Text(list)
		if err != nil {
			continue
		}
		if name := lookupName(text, strings.TrimPrefix(id.Value, "0x"), strings.TrimPrefix(revision.Value, "0x")); name != "" {
			return sut.Known(name, list)
		}
	}
	return sut.Unknown[string]("no list of names holds it")
}

// lookupName finds "73BF,\tC0,\tAMD Radeon RX 6900 XT" by device and revision.
func lookupName(text, id, revision string) string {
	for line := range strings.Lines(text) {
		parts := strings.SplitN(line, ",", 3)
		if len(parts) == 3 && strings.EqualFold(strings.TrimSpace(parts[0]), id) && strings.EqualFold(strings.TrimSpace(parts[1]), revision) {
			return strings.TrimSpace(parts[2])
		}
	}
	return ""
}

// kind tells processors with a GPU from cards and modules.
func (g gpu) kind() sut.Fact[string] {
	switch {
	case g.product.unified:
		return sut.Known("integrated", g.byTable())
	case g.product.name != "":
		return sut.Known("discrete", g.byTable())
	case g.isAPU():
		return sut.Known("integrated", g.apuSource())
	case g.kfd != nil:
		return sut.Known("discrete", g.kfd.source()+": a node without CPUs")
	case g.table.version != "":
		return sut.Known("discrete", g.table.source+" of version "+g.table.version)
	}
	return sut.Unknown[string]("%s", g.unlisted())
}

// isAPU tells a processor with a GPU, but for the accelerators that our table knows as such.
func (g gpu) isAPU() bool { return g.apuSource() != "" }

// apuSource is what tells an APU: a node with CPUs, its target, or a table that only they have.
func (g gpu) apuSource() string {
	switch arch := g.arch(); {
	case g.kfd.hasCPUs():
		return g.kfd.source() + ": a node with CPUs"
	case slices.Contains(apuTargets(), arch.Value):
		return arch.Source + ": " + arch.Value
	case g.table.isAPU():
		return g.table.source + " of version " + g.table.version
	}
	return ""
}

// apuTargets are the targets of processors with a GPU, from Raven to Strix Halo.
func apuTargets() []string {
	return []string{"gfx902", "gfx909", "gfx90c", "gfx1013", "gfx1033", "gfx1035", "gfx1036", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153"}
}

// arch is the target that programs are built for. The version of the graphics block, which some tools take for it, is another number.
func (g gpu) arch() sut.Fact[string] {
	f := sut.Convert(g.property("gfx_target_version"), gfxName)
	const block = "ip_discovery/die/0/GC/0/"
	major, err := g.h.Text(g.file(block + "major"))
	minor, _ := g.h.Text(g.file(block + "minor"))
	revision, _ := g.h.Text(g.file(block + "revision"))
	if block := "gfx" + major + minor + revision; f.IsKnown() && err == nil && block != f.Value {
		f.Other = fmt.Sprintf("%s says %s.%s.%s: the graphics block's version, which is not the target's name", g.file("ip_discovery"), major, minor, revision)
	}
	return f
}

// usable tells whether the compute driver lists the device.
func (g gpu) usable() sut.Fact[bool] {
	if g.kfd != nil {
		return sut.Known(true, g.kfd.source())
	}
	if name := pci.Driver(g.h, g.place()); name != "" && name != "amdgpu" {
		return sut.Known(false, g.file("driver")+" is "+name)
	}
	if g.top.why == "" && g.top.hidden == 0 {
		return sut.Known(false, kfdNodes+" does not list it")
	}
	return sut.Unknown[bool]("%s", g.unlisted())
}

// virtualFunction tells a part of a device that its host divides: some have an id of their own.
func (g gpu) virtualFunction() sut.Fact[bool] {
	if g.product.name != "" {
		return sut.Known(g.product.virtual, g.byTable())
	}
	return pci.VirtualFunction(g.h, g.place())
}

func (g gpu) virtualization() sut.Fact[string] {
	if g.product.virtual {
		return sut.Known("vgpu", g.byTable()+" is a virtual function")
	}
	return sut.Unknown[string]("amdgpu does not tell whether a device is passed through")
}

func (g gpu) serial() sut.Fact[string] {
	f := either(g.told("unique_id"), sut.Convert(g.property("unique_id"), func(s string) (string, error) { return host.HexID(s), nil }))
	return sut.Convert(f, func(id string) (string, error) {
		if strings.Trim(id, "0") == "" {
			return "", sut.ErrNoValue
		}
		return host.SerialHash(id), nil
	})
}

// renderMinor is the device's node, that of its first partition when it is divided.
func (g gpu) renderMinor() sut.Fact[int] {
	return either(pci.RenderMinor(g.h, g.place()), sut.Convert(g.property("drm_render_minor"), func(s string) (int, error) {
		if s == "0" {
			return 0, sut.ErrNoValue
		}
		return strconv.Atoi(s)
	}))
}
