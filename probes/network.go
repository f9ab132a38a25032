package probes

import (
	"context"
	"path"
	"strconv"
	"strings"
)

// probeNetwork reads the interfaces; the loopback and the host's ends of containers' links are none.
func probeNetwork(_ context.Context, h Host, s *SUT) error {
	const dir = "/sys/class/net"
	if _, err := h.list(dir); err != nil {
		s.Network.Interfaces = List[NIC]{Unknown: err.Error()}
		return nil
	}
	names := pciNames(h)
	list := List[NIC]{Items: []NIC{}}
	for _, dev := range h.match(dir, "*") {
		name := path.Base(dev)
		if name == "lo" || strings.HasPrefix(name, "veth") || !h.isDir(dev) {
			continue
		}
		list.Items = append(list.Items, readNIC(h, dev, names))
	}
	s.Network.Interfaces = list
	return nil
}

func readNIC(h Host, dev string, names func(vendor, device string) Fact[string]) NIC {
	n := NIC{
		Name:      Known(cleaner{}.name(path.Base(dev)), dev),
		Kind:      nicKind(h, dev),
		Up:        convert(textFact(h, dev+"/operstate"), func(s string) (bool, error) { return s == "up", nil }),
		SpeedMbps: convert(textFact(h, dev+"/speed"), linkSpeed),
	}
	if n.Up.IsKnown() && textFact(h, dev+"/operstate").Value == "unknown" {
		n.Up = convert(textFact(h, dev+"/carrier"), parseSwitch)
	}
	if !h.isDir(dev + "/device") {
		n.Model = NA[string]("no device of its own")
		return n
	}
	vendor, _ := h.text(dev + "/device/vendor")
	device, _ := h.text(dev + "/device/device")
	if real, _ := h.real(dev + "/device"); strings.Contains(path.Base(real), "virtio") {
		n.Model = Known("virtio network device", dev+"/device")
		return n
	}
	n.Model = names(vendor, device)
	return n
}

// linkSpeed reads Mb/s; -1 and 0 are what drivers say when there is no link.
func linkSpeed(s string) (int, error) {
	v, err := strconv.Atoi(s)
	if err != nil || v <= 0 || uint32(v) == 0xffffffff {
		return 0, errNoValue
	}
	return v, nil
}

func nicKind(h Host, dev string) Fact[string] {
	event, _ := h.text(dev + "/uevent")
	if kind := keyValues(event, "=")["DEVTYPE"]; kind != "" {
		return Known(kind, dev+"/uevent")
	}
	if !h.isDir(dev + "/device") {
		return Known("virtual", dev+" has no device")
	}
	if h.isDir(dev + "/device/physfn") {
		return Known("virtual function", dev+"/device/physfn")
	}
	return convert(textFact(h, dev+"/type"), func(s string) (string, error) {
		switch s { // ARPHRD_*
		case "1":
			return "ethernet", nil
		case "32":
			return "infiniband", nil
		}
		return "type " + s, nil
	})
}

// probeInfiniBand reads the ports of the host channel adapters; RoCE ports have link layer Ethernet.
func probeInfiniBand(_ context.Context, h Host, s *SUT) error {
	const dir = "/sys/class/infiniband"
	if _, err := h.list(dir); err != nil {
		s.Network.InfiniBand = List[InfiniBand]{Unknown: err.Error()}
		if h.absent(dir) {
			s.Network.InfiniBand = List[InfiniBand]{} // the kernel has no such class: no adapter
		}
		return nil
	}
	list := List[InfiniBand]{Items: []InfiniBand{}}
	for _, hca := range h.match(dir, "*") {
		ports := h.match(hca+"/ports", "[0-9]*")
		for _, port := range ports {
			name := path.Base(hca)
			if len(ports) > 1 {
				name += "/" + path.Base(port)
			}
			list.Items = append(list.Items, InfiniBand{
				Name:      Known(name, port),
				RateGbps:  convert(textFact(h, port+"/rate"), leadingNumber),
				State:     convert(textFact(h, port+"/state"), afterColon),
				LinkLayer: textFact(h, port+"/link_layer"),
				Firmware:  textFact(h, hca+"/fw_ver"),
			})
		}
	}
	s.Network.InfiniBand = list
	return nil
}

// leadingNumber reads "400 Gb/sec (4X NDR)" and "16.0 GT/s PCIe".
func leadingNumber(s string) (float64, error) {
	number, _, _ := strings.Cut(s, " ")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v > 0 && v < 1e6) {
		return 0, errNoValue
	}
	return v, nil
}

// afterColon reads "4: ACTIVE".
func afterColon(s string) (string, error) {
	if _, word, ok := strings.Cut(s, ":"); ok && strings.TrimSpace(word) != "" {
		return strings.TrimSpace(word), nil
	}
	return "", errNoValue
}
