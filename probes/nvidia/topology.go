package nvidia

import (
	"slices"
	"strconv"
	"strings"
)

// matrix is what `nvidia-smi topo` prints: the ways from each GPU to the others and to network adapters, or whether it reaches them.
type matrix struct {
	columns []string   // "GPU0", "NIC0", or an adapter's name
	rows    [][]string // of GPU i, a word per column: "NV18", "PIX", "X" for itself
}

// parseTopology reads `nvidia-smi topo -m`.
func parseTopology(text string) matrix { return parseMatrix(text, isWay) }

// parsePeers reads `nvidia-smi topo -p2p r`.
func parsePeers(text string) matrix { return parseMatrix(text, isReach) }

// parseMatrix reads a matrix by its header. One that is cut off, lacks a GPU's row or holds other words than known is none.
func parseMatrix(text string, isWord func(string) bool) matrix {
	var m matrix
	names := map[string]string{}
	for line := range strings.Lines(plain(text)) {
		cells := strings.Fields(line)
		switch {
		case len(cells) == 0:
		case m.columns == nil && cells[0] == "GPU0" && !slices.Contains(cells, "X"):
			m.columns = deviceColumns(cells)
		case cells[0] == "GPU"+strconv.Itoa(len(m.rows)) && len(cells) > len(m.columns) && len(m.columns) > 0:
			m.rows = append(m.rows, cells[1:1+len(m.columns)])
		case len(cells) == 2 && strings.HasSuffix(cells[0], ":"):
			names[strings.TrimSuffix(cells[0], ":")] = cells[1] // the legend: "NIC0: mlx5_0"
		}
	}
	for i, c := range m.columns {
		if name := names[c]; name != "" {
			m.columns[i] = name
		}
	}
	if !m.whole(isWord) {
		return matrix{}
	}
	return m
}

// deviceColumns gives the columns of devices, which come before those of affinities.
func deviceColumns(header []string) []string {
	if i := slices.Index(header, "CPU"); i >= 0 {
		header = header[:i]
	}
	return slices.Clone(header)
}

// whole tells a matrix of as many rows as GPU columns, each with itself on the diagonal and known words elsewhere.
func (m matrix) whole(isWord func(string) bool) bool {
	for i, row := range m.rows {
		for j, word := range row {
			if (word == "X") != (i == j) || (i != j && !isWord(word)) {
				return false
			}
		}
	}
	return len(m.rows) > 0 && len(m.rows) == m.gpus()
}

// gpus counts the columns of GPUs.
func (m matrix) gpus() int {
	n := 0
	for n < len(m.columns) && m.columns[n] == "GPU"+strconv.Itoa(n) {
		n++
	}
	return n
}

// isWay tells the words for how two devices reach each other, from near to far, and NVLink with the number of links.
func isWay(s string) bool {
	n, isLinks := strings.CutPrefix(s, "NV")
	if isLinks {
		_, err := strconv.ParseUint(n, 10, 16)
		return err == nil
	}
	return slices.Contains(ways(), s)
}

// isReach tells the words for whether a GPU reads another's memory: it does, or the chipset, the GPUs, the topology or a registry key are
// against it.
func isReach(s string) bool {
	return slices.Contains([]string{"OK", "CNS", "GNS", "TNS", "NS", "DR", "U"}, s)
}

// reached counts the GPUs whose memory the i-th reads.
func (m matrix) reached(i int) int {
	n := 0
	for _, word := range m.rows[i] {
		if word == "OK" {
			n++
		}
	}
	return n
}

// ways are the ways over PCIe, from near to far. SOC is what old drivers call NODE, and C2C joins a GPU to its own processor.
func ways() []string { return []string{"C2C", "PIX", "PXB", "PHB", "NODE", "SOC", "SYS"} }

// pairs gives the way of each pair of GPUs once, and of each GPU to those adapters that are nearest to it.
func (m matrix) pairs(addresses []string) []string {
	list := []string{}
	for i, row := range m.rows {
		for j := i + 1; j < len(m.rows); j++ {
			list = append(list, addresses[i]+" to "+addresses[j]+": "+row[j])
		}
	}
	for i, row := range m.rows {
		near := len(ways())
		for j := len(m.rows); j < len(row); j++ {
			if at := slices.Index(ways(), row[j]); at >= 0 {
				near = min(near, at)
			}
		}
		for j := len(m.rows); j < len(row); j++ {
			if slices.Index(ways(), row[j]) == near {
				list = append(list, addresses[i]+" to "+m.columns[j]+": "+row[j])
			}
		}
	}
	return list
}

// linked tells whether NVLink joins a pair.
func (m matrix) linked() bool {
	return slices.ContainsFunc(m.rows, func(row []string) bool {
		return slices.ContainsFunc(row, func(way string) bool { return strings.HasPrefix(way, "NV") && way != "NV0" })
	})
}
