package network

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"assay/probes/sut"
)

// group is what is alike in a summary.
type group struct {
	name      string
	count, up int
	fastest   int // Mb/s
}

// summary writes the network as a published description has it: "2 × BCM5720 1GbE (one link up); no InfiniBand". Only devices count, not
// what is made of them.
func summary(n sut.Network) sut.Fact[string] {
	if n.Interfaces.Unknown != "" {
		return sut.Unknown[string]("%s", n.Interfaces.Unknown)
	}
	var list []group
	for _, nic := range n.Interfaces.Items {
		if nic.Kind.Value != "ethernet" {
			continue
		}
		g := at(&list, shortName(nic.Model))
		g.fastest = max(g.fastest, cmp.Or(nic.MaxMbps.Value, nic.SpeedMbps.Value))
		g.add(nic.Up.Value)
	}
	var parts []string
	for _, g := range list {
		parts = append(parts, fmt.Sprintf("%d × %s (%s)", g.count, strings.TrimSpace(g.name+" "+speedWord(g.fastest)), g.links()))
	}
	if len(parts) == 0 {
		parts = append(parts, "no Ethernet device")
	}
	return sut.Known(strings.Join(append(parts, fabrics(n.InfiniBand)...), "; "), "the interfaces and ports of this document")
}

// at gives the group of a name, a new one at the end when there is none.
func at(list *[]group, name string) *group {
	for i := range *list {
		if (*list)[i].name == name {
			return &(*list)[i]
		}
	}
	*list = append(*list, group{name: name})
	return &(*list)[len(*list)-1]
}

func (g *group) add(up bool) {
	g.count++
	if up {
		g.up++
	}
}

func (g group) links() string {
	switch {
	case g.up == 0:
		return "no link up"
	case g.up == g.count && g.count > 1:
		return "all links up"
	case g.up == 1:
		return "one link up"
	}
	return strconv.Itoa(g.up) + " links up"
}

// fabrics are the ports of InfiniBand and its kin.
func fabrics(ports sut.List[sut.InfiniBand]) []string {
	if ports.Unknown != "" {
		return []string{"InfiniBand unknown"}
	}
	var list []group
	infiniband := false
	for _, p := range ports.Items {
		name := strings.TrimSpace(p.Model.Value + " " + cmp.Or(p.Kind.Value, "RDMA"))
		if rate, ok := p.RateGbps.Get(); ok {
			name += fmt.Sprintf(" %g Gb/s", rate)
		}
		at(&list, name).add(p.State.Value == "ACTIVE")
		infiniband = infiniband || p.Kind.Value == "InfiniBand"
	}
	var parts []string
	for _, g := range list {
		parts = append(parts, fmt.Sprintf("%d × %s (%s)", g.count, g.name, g.links()))
	}
	if !infiniband {
		parts = append(parts, "no InfiniBand")
	}
	return parts
}

// shortName is the part of a device's name by which people call it: "[ConnectX-7]", "BCM5720".
func shortName(model sut.Fact[string]) string {
	name, ok := model.Get()
	if !ok {
		return "device of unknown name"
	}
	if m := regexp.MustCompile(`\[([^\]]+)\]`).FindStringSubmatch(name); m != nil {
		return m[1]
	}
	if chip := regexp.MustCompile(`\b(BCM\d+\w*|[A-Z]{1,4}\d{3,}[\w-]*|\d{5}[A-Z]+)\b`).FindString(name); chip != "" {
		return chip
	}
	return name
}

// speedWord writes Mb/s as Ethernet is called: 1GbE, 2.5GbE, 400GbE.
func speedWord(mbps int) string {
	switch {
	case mbps <= 0:
		return ""
	case mbps < 1000:
		return fmt.Sprintf("%dMbE", mbps)
	}
	return strconv.FormatFloat(float64(mbps)/1000, 'g', -1, 64) + "GbE"
}
