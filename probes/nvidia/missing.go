package nvidia

import (
	"fmt"
	"reflect"

	"assay/probes/host"
	"assay/probes/pci"
	"assay/probes/sut"
)

// missing gives a GPU that nvidia-smi does not tell of: it is there, and not known further than the bus and the kernel's module show it.
func missing(h host.Host, c pci.Device, d driver, why error, answered bool) sut.Accelerator {
	a := sut.Accelerator{Vendor: sut.Known("NVIDIA", "nvidia-smi attached_gpus"), DriverVersion: d.version, DriverKind: d.kind}
	if c.Dir != "" {
		model := because(d.information(h, c.Address, "Model"), why)
		a.Vendor, a.PCI, a.Link, a.LinkErrors = sut.Known("NVIDIA", c.Dir+"/vendor"), pci.Identity(h, c), pci.LinkOf(h, c.Dir), pci.ErrorsOf(h, c.Dir)
		a.Name = sut.First(model, nameOf(a.PCI.DeviceID), pci.Names(h)(pci.NVIDIA, a.PCI.DeviceID.Value))
		a.MemoryType, a.ComputeUnits, a.Kind = memoryType(a.Name), multiprocessors(a.Name), kindOf(a.Name)
		a.NUMANode, a.RenderMinor = pci.NUMANode(h, c.Dir), pci.RenderMinor(h, c.Dir)
		a.VBIOS = because(d.information(h, c.Address, "Video BIOS"), why)
		if other := bound(h, c); other != "" {
			why, answered = fmt.Errorf("%w%s", why, other), true
		}
	}
	if answered {
		a.Usable = sut.Known(false, why.Error())
	}
	a.XGMIPeers, a.IFWI, a.PerfLevel = sut.NA[int]("AMD's link"), sut.NA[string]("AMD's firmware"), sut.NA[string]("a setting of AMD's driver")
	sut.GiveReason(reflect.ValueOf(&a).Elem(), why.Error())
	return a
}

// because puts why the tool does not tell a fact before why the kernel's module does not.
func because(f sut.Fact[string], why error) sut.Fact[string] {
	if !f.IsKnown() {
		return sut.Unknown[string]("%s; %s", why, f.Reason())
	}
	return f
}

// bound says which driver has the device, where it is not NVIDIA's: that is why the tool does not see it.
func bound(h host.Host, c pci.Device) string {
	switch name := pci.Driver(h, c.Dir); {
	case name != "" && name != "nvidia":
		return "; the driver " + name + " has it"
	case name == "" && h.Absent(c.Dir+"/driver"):
		return "; no driver is bound to it"
	}
	return ""
}
