package network

import (
	"context"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

// toldPorts takes the ports from the tools whose output a capture may hold where it lacks the kernel's files; nil when it holds none.
func toldPorts(ctx context.Context, h host.Host) []sut.InfiniBand {
	if h.Live {
		return nil
	}
	for _, tool := range []struct {
		argv  []string
		parse func([]byte) []sut.InfiniBand
	}{{[]string{"ibstat"}, parseIbstat}, {[]string{"rdma", "link", "-j"}, parseRDMA}, {[]string{"rdma", "link"}, parseRDMA}} {
		out, err := h.Run(ctx, tool.argv...)
		if err != nil {
			continue
		}
		if list := tool.parse(out.Stdout); len(list) > 0 {
			return list
		}
	}
	return nil
}

// untold is a port of which a tool said nothing yet.
func untold(name, tool string) sut.InfiniBand {
	p := sut.InfiniBand{Name: sut.Known(host.WithoutIDs()(name), tool)}
	sut.GiveReason(reflect.ValueOf(&p).Elem(), tool+" does not tell it")
	return p
}

// parseIbstat reads ibstat's blocks. It may break off at an adapter it cannot open; those before it are there.
func parseIbstat(b []byte) []sut.InfiniBand {
	const tool = "ibstat"
	var list []sut.InfiniBand
	var name, model, firmware string
	ports := 1
	for line := range strings.Lines(string(b)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		value = strings.TrimSpace(value)
		switch {
		case strings.HasPrefix(key, "CA '"):
			name, model, firmware, ports = strings.Trim(key[3:], "'"), "", "", 1
		case key == "CA type":
			model = value
		case key == "Firmware version":
			firmware = value
		case key == "Number of ports":
			ports, _ = strconv.Atoi(value)
		case strings.HasPrefix(key, "Port ") && value == "" && name != "":
			p := untold(portName(name, key[5:], ports), tool)
			p.Model, p.Firmware = told(p.Model, adapterName(model), tool), told(p.Firmware, firmware, tool)
			list = append(list, p)
		case len(list) > 0:
			portLine(&list[len(list)-1], key, value)
		}
	}
	return list
}

func portName(hca, port string, ports int) string {
	if ports > 1 {
		return hca + "/" + port
	}
	return hca
}

// told is a value that a tool gave, or the fact as it was.
func told(f sut.Fact[string], value, tool string) sut.Fact[string] {
	if value == "" {
		return f
	}
	return sut.Known(value, tool)
}

// portLine takes a line of a port's block.
func portLine(p *sut.InfiniBand, key, value string) {
	const tool = "ibstat"
	switch key {
	case "State":
		p.State = told(p.State, strings.ToUpper(value), tool) // as the kernel spells it
	case "Physical state":
		p.PhysState = told(p.PhysState, value, tool)
	case "Rate":
		p.RateGbps = sut.Convert(sut.Known(value, tool), host.LeadingNumber)
	case "Link layer":
		p.LinkLayer = told(p.LinkLayer, value, tool)
		p.Kind = portKind(p.Name.Value, p.LinkLayer)
	}
}

// rdmaLink is an entry of `rdma link -j`.
type rdmaLink struct {
	Name     string `json:"ifname"`
	Port     int
	State    string
	Physical string `json:"physical_state"`
	NetDev   string `json:"netdev"`
}

// parseRDMA reads `rdma link`, with -j or without.
func parseRDMA(b []byte) []sut.InfiniBand {
	const tool = "rdma link"
	var links []rdmaLink
	if json.Unmarshal(b, &links) != nil {
		links = rdmaLines(string(b))
	}
	ports := map[string]int{}
	for _, l := range links {
		ports[l.Name] = max(ports[l.Name], l.Port)
	}
	var list []sut.InfiniBand
	for _, l := range links {
		if l.Name == "" {
			continue
		}
		p := untold(portName(l.Name, strconv.Itoa(l.Port), ports[l.Name]), tool)
		p.State, p.PhysState, p.NetDev = told(p.State, l.State, tool), told(p.PhysState, l.Physical, tool), told(p.NetDev, host.WithoutIDs()(l.NetDev), tool)
		if l.NetDev != "" {
			p.Kind = sut.Known("RoCE", "rdma link names a network interface")
		}
		list = append(list, p)
	}
	return list
}

// rdmaLines reads "link rocep68s0/1 state ACTIVE physical_state LINK_UP netdev enp68s0".
func rdmaLines(text string) []rdmaLink {
	var links []rdmaLink
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 4 || words[0] != "link" {
			continue
		}
		name, port, _ := strings.Cut(words[1], "/")
		l := rdmaLink{Name: name}
		l.Port, _ = strconv.Atoi(port)
		for i := 2; i+1 < len(words); i += 2 {
			switch words[i] {
			case "state":
				l.State = words[i+1]
			case "physical_state":
				l.Physical = words[i+1]
			case "netdev":
				l.NetDev = words[i+1]
			}
		}
		links = append(links, l)
	}
	return links
}
