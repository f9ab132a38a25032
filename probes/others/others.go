package others

import (
	"context"
	"reflect"

	"assay/probes/host"
	"assay/probes/pci"
	"assay/probes/sut"
)

// Probe lists the accelerators on the bus that are neither AMD's nor NVIDIA's.
func Probe(_ context.Context, h host.Host, s *sut.SUT) error {
	for _, vendor := range pci.OtherVendors(h) {
		cards, _ := pci.Accelerators(h, vendor)
		for _, c := range cards {
			s.Accelerators.Items = append(s.Accelerators.Items, device{h, vendor, c}.read())
		}
	}
	return nil
}

// device is an accelerator of the bus.
type device struct {
	h      host.Host
	vendor string
	card   pci.Device
}

func (d device) file(name string) string { return d.card.Dir + "/" + name }

func (d device) read() sut.Accelerator {
	a := sut.Accelerator{
		Vendor: d.maker(), PCI: pci.Identity(d.h, d.card), Kind: d.kind(), Link: pci.LinkOf(d.h, d.card.Dir), LinkErrors: pci.ErrorsOf(d.h, d.card.Dir),
		VirtualFunction: pci.VirtualFunction(d.h, d.card.Dir), NUMANode: pci.NUMANode(d.h, d.card.Dir),
		RenderMinor: pci.RenderMinor(d.h, d.card.Dir), RuntimeStatus: host.TextFact(d.h, d.file("power/runtime_status")), IFWI: sut.NA[string]("AMD's firmware"),
		Persistence: sut.NA[bool]("a setting of NVIDIA's driver"), PerfLevel: sut.NA[string]("a setting of AMD's driver"),
		XGMIPeers: sut.NA[int]("AMD's link"), NVLinks: sut.NA[int]("NVIDIA's link"),
	}
	a.Name = pci.Names(d.h)(d.vendor, a.PCI.DeviceID.Value)
	d.driver(&a)
	d.memory(&a)
	d.sensors(&a)
	d.clocks(&a)
	sut.GiveReason(reflect.ValueOf(&a).Elem(), "no tool of this vendor is asked, and the kernel's files do not tell it")
	return a
}

func (d device) maker() sut.Fact[string] {
	if d.vendor == pci.Intel {
		return sut.Known("Intel", d.file("vendor"))
	}
	return pci.Maker(d.h, d.vendor)
}

// kind tells a part of the processor from a card by how it is built in: names and numbers of models do not tell.
func (d device) kind() sut.Fact[string] {
	behindPort, err := pci.Attached(d.h, d.card)
	switch {
	case err != nil:
		return sut.Unknown[string]("%s", err)
	case behindPort:
		return sut.Known("discrete", d.card.Dir+": behind a port of the root complex")
	}
	return sut.Known("integrated", d.card.Dir+": part of the root complex")
}

// driver names the kernel's driver that has the device; without one it is of no use.
func (d device) driver(a *sut.Accelerator) {
	link := d.file("driver")
	if name := pci.Driver(d.h, d.card.Dir); name != "" {
		a.Usable = sut.Known(name != "vfio-pci", link+" is "+name)
		a.DriverVersion = sut.Convert(host.KernelRelease(d.h), func(kernel string) (string, error) { return name + " of kernel " + kernel, nil })
		if own := host.TextFact(d.h, "/sys/module/"+name+"/version"); own.IsKnown() {
			a.DriverVersion = own
		}
		return
	}
	if d.h.Absent(link) {
		a.Usable = sut.Known(false, link+" does not exist: no driver has the device")
		a.DriverVersion = sut.NA[string]("no driver has the device")
		return
	}
	a.Usable = sut.Unknown[bool]("%s is not in the capture", link)
}

// memory is the system's for a part of the processor, of which its driver sets a little apart. For a card no file tells its size.
func (d device) memory(a *sut.Accelerator) {
	if a.Kind.Value != "integrated" {
		return
	}
	const why = "it has no memory of its own and shares the system's"
	a.UnifiedMemory = sut.Known(true, a.Kind.Source)
	a.VRAMBytes, a.VRAMUsedBytes, a.MemoryType, a.MemoryVendor = sut.NA[int64](why), sut.NA[int64](why), sut.NA[string](why), sut.NA[string](why)
}
