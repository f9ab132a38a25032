package machine

import (
	"context"
	"path"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/pci"
	"assay/probes/sut"
)

// ProbeNetwork reads the interfaces; the loopback and the host's ends of containers' links are none.
func ProbeNetwork(_ context.Context, h host.Host, s *sut.SUT) error {
	const dir = "/sys/class/net"
	if _, err := h.List(dir); err != nil {
		s.Network.Interfaces = sut.List[sut.NIC]{Unknown: err.Error()}
		return nil
	}
	names := pci.Names(h)
	list := sut.List[sut.NIC]{Items: []sut.NIC{}}
	for _, dev := range h.Match(dir, "*") {
		name := path.Base(dev)
		if name == "lo" || strings.HasPrefix(name, "veth") || !h.IsDir(dev) {
			continue
		}
		list.Items = append(list.Items, readNIC(h, dev, names))
	}
	s.Network.Interfaces = list
	return nil
}

func readNIC(h host.Host, dev string, names func(vendor, device string) sut.Fact[string]) sut.NIC {
	return sut.NIC{
		Name:      sut.Known(host.WithoutIDs()(path.Base(dev)), dev),
		Kind:      nicKind(h, dev),
		Model:     nicModel(h, dev, names),
		Up:        nicUp(h, dev),
		SpeedMbps: sut.Convert(host.TextFact(h, dev+"/speed"), linkSpeed),
	}
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

// ProbeInfiniBand reads the ports of the host channel adapters; RoCE ports have link layer Ethernet.
func ProbeInfiniBand(_ context.Context, h host.Host, s *sut.SUT) error {
	const dir = "/sys/class/infiniband"
	if _, err := h.List(dir); err != nil {
		s.Network.InfiniBand = sut.List[sut.InfiniBand]{Unknown: err.Error()}
		if h.Absent(dir) {
			s.Network.InfiniBand = sut.List[sut.InfiniBand]{} // the kernel has no such class: no adapter
		}
		return nil
	}
	list := sut.List[sut.InfiniBand]{Items: []sut.InfiniBand{}}
	for _, hca := range h.Match(dir, "*") {
		ports := h.Match(hca+"/ports", "[0-9]*")
		for _, port := range ports {
			list.Items = append(list.Items, readPort(h, hca, port, len(ports) > 1))
		}
	}
	s.Network.InfiniBand = list
	return nil
}

func readPort(h host.Host, hca, port string, several bool) sut.InfiniBand {
	name := path.Base(hca)
	if several {
		name += "/" + path.Base(port)
	}
	return sut.InfiniBand{
		Name:      sut.Known(name, port),
		RateGbps:  sut.Convert(host.TextFact(h, port+"/rate"), host.LeadingNumber),
		State:     sut.Convert(host.TextFact(h, port+"/state"), host.AfterColon),
		LinkLayer: host.TextFact(h, port+"/link_layer"),
		Firmware:  host.TextFact(h, hca+"/fw_ver"),
	}
}
