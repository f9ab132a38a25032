package network

import (
	"context"
	"path"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/pci"
	"assay/probes/sut"
)

// Probe reads the interfaces and the ports of host channel adapters.
func Probe(ctx context.Context, h host.Host, s *sut.SUT) error {
	gpus := readGPUs(h)
	s.Network.Interfaces = readNICs(ctx, h, gpus)
	s.Network.InfiniBand = readPorts(ctx, h, gpus)
	s.Network.Summary = summary(s.Network)
	return nil
}

// readNICs gives the interfaces; the loopback and the host's ends of containers' links are none.
func readNICs(ctx context.Context, h host.Host, gpus []gpu) sut.List[sut.NIC] {
	const dir = "/sys/class/net"
	if _, err := h.List(dir); err != nil {
		return sut.List[sut.NIC]{Unknown: err.Error()}
	}
	names := pci.Names(h)
	list := sut.List[sut.NIC]{Items: []sut.NIC{}}
	var own []string // names without what the SUT cuts out of them
	for _, dev := range h.Match(dir, "*") {
		name := path.Base(dev)
		if name == "lo" || strings.HasPrefix(name, "veth") || !h.IsDir(dev) {
			continue
		}
		own, list.Items = append(own, name), append(list.Items, readNIC(h, dev, names, gpus))
	}
	askEthtool(ctx, h, own, list.Items)
	askNicctl(ctx, h, list.Items)
	return list
}

func readNIC(h host.Host, dev string, names func(vendor, device string) sut.Fact[string], gpus []gpu) sut.NIC {
	n := sut.NIC{
		Name:    sut.Known(host.WithoutIDs()(path.Base(dev)), dev),
		Kind:    nicKind(h, dev),
		Model:   nicModel(h, dev, names),
		Up:      nicUp(h, dev),
		MTU:     host.IntFact[int](h, dev+"/mtu"),
		Master:  linkName(h, dev+"/master", "no bond or bridge has it"),
		Members: lower(h, dev),
		VLAN:    vlan(h, dev),
	}
	n.SpeedMbps = nicSpeed(h, dev, n.Up)
	placeNIC(h, dev, &n, gpus)
	return n
}

// placeNIC fills what a device of its own has.
func placeNIC(h host.Host, dev string, n *sut.NIC, gpus []gpu) {
	const why = "no device of its own"
	if !h.IsDir(dev + "/device") {
		n.Driver, n.VFs, n.PCI, n.NUMANode = sut.NA[string](why), sut.NA[int](why), sut.NA[string](why), sut.NA[int](why)
		n.NearGPUs, n.GPUDistance = sut.NA[[]string](why), sut.NA[string](why)
		return
	}
	n.Driver = linkName(h, dev+"/device/driver", "no driver is bound")
	n.PCI = address(h, dev+"/device")
	n.NUMANode = node(h, dev+"/device")
	n.VFs = host.IntFact[int](h, dev+"/device/sriov_numvfs")
	if h.Absent(dev + "/device/sriov_numvfs") {
		n.VFs = sut.NA[int]("the device offers no virtual functions")
	}
	n.NearGPUs, n.GPUDistance = nearest(h, dev+"/device", gpus)
}

// address is a device's place on the bus; one of virtio lies below it.
func address(h host.Host, dir string) sut.Fact[string] {
	way := wayTo(h, dir)
	if len(way) < 2 {
		return sut.Unknown[string]("%s does not lead to the PCI bus", dir)
	}
	return sut.Known(way[len(way)-1], dir)
}

func node(h host.Host, dir string) sut.Fact[int] {
	return sut.Convert(host.IntFact[int](h, dir+"/numa_node"), host.NotNegative)
}

// linkName is the name that a link of sysfs leads to.
func linkName(h host.Host, link, otherwise string) sut.Fact[string] {
	real, err := h.Real(link)
	switch linked := err == nil && path.Base(real) != path.Base(link); {
	case !linked && h.Absent(link):
		return sut.NA[string](otherwise)
	case !linked:
		return sut.Unknown[string]("%s cannot be followed", link)
	}
	return sut.Known(host.WithoutIDs()(path.Base(real)), link)
}

// lower gives what lies below a bond, bridge or VLAN.
func lower(h host.Host, dev string) sut.Fact[[]string] {
	var names []string
	for _, link := range h.Match(dev, "lower_*") {
		names = append(names, host.WithoutIDs()(strings.TrimPrefix(path.Base(link), "lower_")))
	}
	if len(names) == 0 {
		return sut.NA[[]string]("it is made of no other interface")
	}
	return sut.Known(names, dev+"/lower_*")
}

// vlan is the tag of a VLAN: by the kernel's list, which root alone may read, or by the name it is commonly given.
func vlan(h host.Host, dev string) sut.Fact[int] {
	event, _ := h.Text(dev + "/uevent")
	if host.KeyValues(event, "=")["DEVTYPE"] != "vlan" {
		return sut.NA[int]("no VLAN")
	}
	const list = "/proc/net/vlan/config"
	text, err := h.Text(list)
	if id, ok := vlanID(text, path.Base(dev)); ok {
		return sut.Known(id, list)
	}
	if _, tag, ok := strings.Cut(path.Base(dev), "."); ok {
		return sut.Convert(sut.Known(tag, "the interface's name"), strconv.Atoi)
	}
	if err != nil {
		return sut.Unknown[int]("needs root (%s)", list)
	}
	return sut.Unknown[int]("%s does not name it", list)
}

// vlanID finds an interface in lines of "eth0.100  | 100  | eth0".
func vlanID(text, name string) (int, bool) {
	for line := range strings.Lines(text) {
		fields := strings.Split(line, "|")
		if len(fields) != 3 || strings.TrimSpace(fields[0]) != name {
			continue
		}
		id, err := strconv.Atoi(strings.TrimSpace(fields[1]))
		return id, err == nil && id >= 0 && id < 4096
	}
	return 0, false
}

// nicUp takes the carrier where the driver does not keep an operational state.
func nicUp(h host.Host, dev string) sut.Fact[bool] {
	state := host.TextFact(h, dev+"/operstate")
	if state.Value == "unknown" {
		return sut.Convert(host.TextFact(h, dev+"/carrier"), host.ParseSwitch)
	}
	return sut.Convert(state, func(s string) (bool, error) { return s == "up", nil })
}

func nicModel(h host.Host, dev string, names func(vendor, device string) sut.Fact[string]) sut.Fact[string] {
	if !h.IsDir(dev + "/device") {
		return sut.NA[string]("no device of its own")
	}
	if real, _ := h.Real(dev + "/device"); strings.Contains(path.Base(real), "virtio") {
		return sut.Known("virtio network device", dev+"/device")
	}
	vendor, _ := h.Text(dev + "/device/vendor")
	device, _ := h.Text(dev + "/device/device")
	return names(vendor, device)
}

// nicSpeed is the speed of a link that is up; the kernel refuses the question, or answers -1, where none is.
func nicSpeed(h host.Host, dev string, up sut.Fact[bool]) sut.Fact[int] {
	speed := sut.Convert(host.TextFact(h, dev+"/speed"), linkSpeed)
	if up.IsKnown() && !up.Value && !speed.IsKnown() {
		return sut.Unknown[int]("the link is down (%s)", up.Source)
	}
	return speed
}

// linkSpeed reads Mb/s; -1 and 0 are what drivers say when there is no link.
func linkSpeed(s string) (int, error) {
	v, err := strconv.Atoi(s)
	if err != nil || v <= 0 || uint32(v) == 0xffffffff {
		return 0, sut.ErrNoValue
	}
	return v, nil
}

func nicKind(h host.Host, dev string) sut.Fact[string] {
	event, _ := h.Text(dev + "/uevent")
	if kind := host.KeyValues(event, "=")["DEVTYPE"]; kind != "" {
		return sut.Known(kind, dev+"/uevent")
	}
	if !h.IsDir(dev + "/device") {
		return sut.Known("virtual", dev+" has no device")
	}
	if h.IsDir(dev + "/device/physfn") {
		return sut.Known("virtual function", dev+"/device/physfn")
	}
	return sut.Convert(host.TextFact(h, dev+"/type"), func(s string) (string, error) {
		switch s { // ARPHRD_*
		case "1":
			return "ethernet", nil
		case "32":
			return "infiniband", nil
		}
		return "type " + s, nil
	})
}
