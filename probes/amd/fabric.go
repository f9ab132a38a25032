package amd

import (
	"fmt"
	"path"
	"slices"
	"strconv"

	"assay/probes/host"
	"assay/probes/sut"
)

// The types of links in the topology, and the way of XGMI between dies of one package and from one to another of such.
const (
	typePCIe     = "2"
	typeXGMI     = "11"
	weightHop    = 15
	weightAcross = 41
)

// link is a link of the topology between two GPU nodes, in the direction the driver lists it.
type link struct {
	from, to  string // addresses of the physical GPUs
	kind      string
	weight    int
	bandwidth int // MB/s; 0 when it is not told
}

// readLinks gives the links between GPU nodes. io_links are those of the hardware, p2p_links those through the PCIe tree.
func readLinks(h host.Host, owner map[string]string) []link {
	var links []link
	for _, node := range h.Match(kfdNodes, "[0-9]*") {
		from, ok := owner[path.Base(node)]
		if !ok {
			continue
		}
		for _, dir := range append(h.Match(node+"/io_links", "[0-9]*"), h.Match(node+"/p2p_links", "[0-9]*")...) {
			text, _ := h.Text(dir + "/properties")
			if l, node, ok := parseLink(text); ok && owner[node] != "" {
				l.from, l.to = from, owner[node]
				links = append(links, l)
			}
		}
	}
	return links
}

// parseLink reads a link's properties and the node that it leads to.
func parseLink(text string) (l link, node string, ok bool) {
	p := host.KeyValues(text, " ")
	weight, err := strconv.Atoi(p["weight"])
	if err != nil || p["node_to"] == "" {
		return link{}, "", false
	}
	l = link{kind: p["type"], weight: weight}
	if mbs, err := strconv.Atoi(p["max_bandwidth"]); err == nil && mbs > 0 {
		l.bandwidth = mbs
	}
	return l, p["node_to"], true
}

// hops tells the XGMI hops of a link by its weight, 0 where it does not tell; the tools call every pair one hop apart.
func (l link) hops() int {
	switch {
	case l.weight == weightAcross:
		return 1
	case l.weight%weightHop == 0:
		return l.weight / weightHop
	}
	return 0
}

func (l link) text() string {
	s := fmt.Sprintf("%s to %s: xgmi, weight %d", l.from, l.to, l.weight)
	if n := l.hops(); n > 0 {
		s += fmt.Sprintf(", hops %d", n)
	}
	if l.bandwidth > 0 {
		s += fmt.Sprintf(", %d MB/s", l.bandwidth)
	}
	return s
}

// between gives the XGMI links between different physical GPUs, each pair once in each direction, by the type of the link: its weight is
// another in every mode.
func (t topology) between() []link {
	var list []link
	seen := map[[2]string]bool{}
	for _, l := range t.links {
		if l.kind != typeXGMI || l.from == l.to || seen[[2]string{l.from, l.to}] {
			continue
		}
		seen[[2]string{l.from, l.to}] = true
		list = append(list, l)
	}
	return list
}

// hives counts the XGMI fabrics.
func (t topology) hives() int {
	var ids []string
	for _, g := range t.gpus {
		if id := g.nodes[0].props["hive_id"]; id != "" && id != "0" {
			ids = append(ids, id)
		}
	}
	return len(host.Distinct(ids))
}

// interconnect is how the GPUs of the machine reach each other.
func (t topology) interconnect(found int) sut.Interconnect {
	i := sut.Interconnect{}
	if found == 0 {
		return i
	}
	i.Switches, i.Manager = sut.NA[int]("NVIDIA's switches"), sut.NA[string]("NVIDIA's service")
	if len(t.gpus) == 0 {
		const why = "the compute driver's topology is not there"
		i.Kind, i.Hives, i.Links = sut.Unknown[string](why), sut.Unknown[int](why), sut.List[string]{Unknown: why}
		return i
	}
	i.Kind, i.Hives, i.Links = sut.Known("pcie", kfdNodes), sut.Known(t.hives(), kfdNodes), sut.List[string]{Items: []string{}}
	for _, l := range t.between() {
		i.Kind = sut.Known("xgmi", kfdNodes+"/*/io_links")
		i.Links.Items = append(i.Links.Items, l.text())
	}
	if t.hidden > 0 { // what is seen is not all there is
		i.Hives, i.Links = sut.Unknown[int](hiddenNodes), sut.List[string]{Unknown: hiddenNodes}
		if i.Kind.Value != "xgmi" {
			i.Kind = sut.Unknown[string](hiddenNodes)
		}
	}
	return i
}

// linksOf tells why the links of the GPU are not known, "" when they are.
func (g gpu) linksOf(kind string) string {
	if g.kfd == nil || g.top.hidden > 0 { // links to nodes that are hidden cannot be told apart
		return g.unlisted()
	}
	if _, err := g.h.List(kfdNodes + "/" + g.kfd.nodes[0].id + "/" + kind); err != nil {
		return err.Error()
	}
	return ""
}

func (g gpu) xgmiPeers() sut.Fact[int] {
	if why := g.linksOf("io_links"); why != "" {
		return sut.Unknown[int]("%s", why)
	}
	n := 0
	for _, l := range g.top.between() {
		if l.from == g.kfd.address {
			n++
		}
	}
	return sut.Known(n, kfdNodes+"/*/io_links")
}

// p2pPeers counts the other GPUs to which there is any link. Drivers that have no list of the links through PCIe tell only when every
// GPU is reached without.
func (g gpu) p2pPeers() sut.Fact[int] {
	if why := g.linksOf("io_links"); why != "" {
		return sut.Unknown[int]("%s", why)
	}
	var peers []string
	for _, l := range g.top.links {
		if l.from == g.kfd.address && l.to != l.from && slices.Contains([]string{typePCIe, typeXGMI}, l.kind) {
			peers = append(peers, l.to)
		}
	}
	n := len(host.Distinct(peers))
	if why := g.linksOf("p2p_links"); why != "" && n < len(g.top.gpus)-1 {
		return sut.Unknown[int]("%s", why)
	}
	return sut.Known(n, kfdNodes+"/*/{io,p2p}_links")
}

// fabric is the state of the XGMI links; a GPU that has none in the topology has no state either.
func (g gpu) fabric() sut.Fabric {
	if peers := g.xgmiPeers(); peers.IsKnown() && peers.Value == 0 {
		const none = "no XGMI link joins this GPU to another"
		return sut.Fabric{LinksUp: sut.NA[int](none), LinksDown: sut.NA[int](none), LinkGbps: sut.NA[float64](none)}
	}
	return g.table.fabric()
}
