package network

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path"
	"regexp"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/pci"
	"assay/probes/sut"
)

// readPorts reads the ports of the host channel adapters. A port or a counter that cannot be read costs itself only.
func readPorts(ctx context.Context, h host.Host, gpus []gpu) sut.List[sut.InfiniBand] {
	const dir = "/sys/class/infiniband"
	if _, err := h.List(dir); err != nil {
		if h.Absent(dir) && len(h.Match("/sys/class", "*")) > 0 {
			return sut.List[sut.InfiniBand]{} // the kernel has no such class: no adapter
		}
		if list := toldPorts(ctx, h); list != nil {
			return sut.List[sut.InfiniBand]{Items: list}
		}
		return sut.List[sut.InfiniBand]{Unknown: err.Error()}
	}
	names := pci.Names(h)
	list := sut.List[sut.InfiniBand]{Items: []sut.InfiniBand{}}
	for _, hca := range h.Match(dir, "*") {
		ports := h.Match(hca+"/ports", "[0-9]*")
		for _, port := range ports {
			list.Items = append(list.Items, readPort(h, hca, port, len(ports) > 1, names, gpus))
		}
	}
	return list
}

func readPort(h host.Host, hca, port string, several bool, names func(vendor, device string) sut.Fact[string], gpus []gpu) sut.InfiniBand {
	name := path.Base(hca)
	if several {
		name += "/" + path.Base(port)
	}
	p := sut.InfiniBand{
		Name:      sut.Known(host.WithoutIDs()(name), port),
		RateGbps:  sut.Convert(host.TextFact(h, port+"/rate"), host.LeadingNumber),
		State:     sut.Convert(host.TextFact(h, port+"/state"), host.AfterColon),
		PhysState: sut.Convert(host.TextFact(h, port+"/phys_state"), host.AfterColon),
		LinkLayer: host.TextFact(h, port+"/link_layer"),
		Firmware:  host.TextFact(h, hca+"/fw_ver"),
		Board:     host.TextFact(h, hca+"/board_id"),
		Model:     hcaModel(h, hca, names),
		NetDev:    netDev(h, hca, port),
		PCI:       address(h, hca+"/device"),
		NUMANode:  node(h, hca+"/device"),
		Counters:  readCounters(h, port),
	}
	driver := linkName(h, hca+"/device/driver", "").Value
	p.Kind = portKind(cmp.Or(driver, name), p.LinkLayer)
	p.NearGPUs, p.GPUDistance = nearest(h, hca+"/device", gpus)
	return p
}

// portKind names the network: Omni-Path says that its link layer is InfiniBand.
func portKind(driver string, layer sut.Fact[string]) sut.Fact[string] {
	if strings.HasPrefix(driver, "hfi1") {
		return sut.Known("Omni-Path", "the driver hfi1")
	}
	return sut.Convert(layer, func(s string) (string, error) {
		switch s {
		case "InfiniBand":
			return s, nil
		case "Ethernet":
			return "RoCE", nil
		}
		return "", sut.ErrNoValue
	})
}

// hcaModel names an adapter by its type, which is the device's PCI number in decimal.
func hcaModel(h host.Host, hca string, names func(vendor, device string) sut.Fact[string]) sut.Fact[string] {
	kind := host.TextFact(h, hca+"/hca_type")
	if name := adapterName(kind.Value); name != "" {
		return sut.Known(name, kind.Source)
	}
	vendor, _ := h.Text(hca + "/device/vendor")
	device, _ := h.Text(hca + "/device/device")
	if number, err := strconv.Atoi(strings.TrimPrefix(kind.Value, "MT")); err == nil && device == "" {
		vendor, device = "0x15b3", fmt.Sprintf("0x%04x", number)
	}
	if f := names(vendor, device); f.IsKnown() || !kind.IsKnown() {
		return f
	}
	return kind
}

// adapterName gives the product of a type of adapter; virtual functions have types of their own.
func adapterName(kind string) string {
	names := map[string]string{
		"MT4099": "ConnectX-3", "MT4103": "ConnectX-3 Pro", "MT4113": "Connect-IB", "MT4115": "ConnectX-4", "MT4116": "ConnectX-4 VF", "MT4117": "ConnectX-4 Lx", "MT4118": "ConnectX-4 Lx VF",
		"MT4119": "ConnectX-5", "MT4120": "ConnectX-5 VF", "MT4121": "ConnectX-5 Ex", "MT4122": "ConnectX-5 Ex VF", "MT4123": "ConnectX-6", "MT4124": "ConnectX-6 VF",
		"MT4125": "ConnectX-6 Dx", "MT4126": "ConnectX VF", "MT4127": "ConnectX-6 Lx", "MT4129": "ConnectX-7", "MT4131": "ConnectX-8",
		"MT41682": "BlueField", "MT41686": "BlueField-2", "MT41692": "BlueField-3",
	}
	return names[kind]
}

// netDev is the network interface of a port.
func netDev(h host.Host, hca, port string) sut.Fact[string] {
	if f := host.TextFact(h, port+"/gid_attrs/ndevs/0"); f.IsKnown() {
		f.Value = host.WithoutIDs()(f.Value)
		return f
	}
	for _, dev := range h.Match(hca+"/device/net", "*") {
		number, _ := h.Text(dev + "/dev_port")
		if n, err := strconv.Atoi(number); err == nil && strconv.Itoa(n+1) != path.Base(port) {
			continue
		}
		return sut.Known(host.WithoutIDs()(path.Base(dev)), hca+"/device/net")
	}
	return sut.Unknown[string]("neither %s/gid_attrs/ndevs/0 nor %s/device/net names one", port, hca)
}

// readCounters reads what InfiniBand counts. Data are counted in words of 4 bytes, over all lanes together.
func readCounters(h host.Host, port string) sut.PortCounters {
	read := func(name string, full int64) sut.Fact[int64] {
		f := host.TextFact(h, port+"/counters/"+name)
		value, err := parseCounter(f.Value)
		switch {
		case !f.IsKnown():
			return sut.Unknown[int64]("%s", f.Unknown)
		case err != nil:
			return sut.Unknown[int64]("%s reads %q", f.Source, f.Value)
		case full > 0 && value >= full:
			return sut.Unknown[int64]("%s stands at %d, the most it can count", f.Source, value)
		}
		return sut.Known(value, f.Source)
	}
	bytes := func(f sut.Fact[int64]) sut.Fact[int64] {
		if f.Value > math.MaxInt64/4 {
			return sut.Unknown[int64]("%s reads %d, which cannot be", f.Source, f.Value)
		}
		f.Value *= 4
		return f
	}
	return sut.PortCounters{
		RxBytes: bytes(read("port_rcv_data", 0)), TxBytes: bytes(read("port_xmit_data", 0)),
		RxErrors: read("port_rcv_errors", math.MaxUint16), SymbolErrors: read("symbol_error", math.MaxUint16),
		LinkDowned: read("link_downed", math.MaxUint8), LinkRecoveries: read("link_error_recovery", math.MaxUint8),
	}
}

// parseCounter reads a count; drivers also write "N/A (no PMA)".
func parseCounter(s string) (int64, error) {
	if !regexp.MustCompile(`^\d{1,19}$`).MatchString(s) {
		return 0, sut.ErrNoValue
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, sut.ErrNoValue
	}
	return n, nil
}
