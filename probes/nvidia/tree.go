package nvidia

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"assay/probes/sut"
)

// node is an element of nvidia-smi's report. The XML, the indented text and a CSV row all become the same tree.
type node struct {
	name, text string
	kids       []*node
}

func (n *node) add(name, text string) *node {
	kid := &node{name: name, text: text}
	n.kids = append(n.kids, kid)
	return kid
}

// put sets the text at a path "a/b", and makes what of the path is not there.
func (n *node) put(where, text string) {
	for part := range strings.SplitSeq(where, "/") {
		next := n.kid(part)
		if next == nil {
			next = n.add(part, "")
		}
		n = next
	}
	n.text = text
}

// find gives the first node at a path "a/b", nil when there is none.
func (n *node) find(where string) *node {
	for part := range strings.SplitSeq(where, "/") {
		if n == nil {
			return nil
		}
		n = n.kid(part)
	}
	return n
}

func (n *node) kid(name string) *node {
	for _, k := range n.kids {
		if k.name == name {
			return k
		}
	}
	return nil
}

func (n *node) all(name string) []*node {
	var list []*node
	for _, k := range n.kids {
		if k.name == name {
			list = append(list, k)
		}
	}
	return list
}

// fact gives the value at the first of the paths that exists; drivers renamed elements. nvidia-smi's words for no value are unknown. An
// element that holds others is no value, and one that says "N/A" stands for all it would hold.
func (n *node) fact(source string, where ...string) sut.Fact[string] {
	for _, w := range where {
		found := n.find(w)
		if found == nil {
			if up := n.none(w); up != "" {
				return sut.Unknown[string]("%s", up)
			}
			continue
		}
		if !isValue(found.text) {
			return sut.Unknown[string]("nvidia-smi says %q for %s", firstLine(found.text), w)
		}
		return sut.Known(found.text, source+" "+w)
	}
	return sut.Unknown[string]("nvidia-smi does not give %s", where[0])
}

// none says which element above a path stands for none, such as <remapped_rows>N/A</remapped_rows>.
func (n *node) none(where string) string {
	for up := where; ; {
		i := strings.LastIndexByte(up, '/')
		if i < 0 {
			return ""
		}
		up = up[:i]
		if found := n.find(up); found != nil && found.text != "" && len(found.kids) == 0 && !isValue(found.text) {
			return fmt.Sprintf("nvidia-smi says %q for %s", firstLine(found.text), up)
		}
	}
}

// maxValue is longer than any value, of which a program's path is the longest.
const maxValue = 4096

// isValue tells a value from the words for none.
func isValue(s string) bool {
	if len(s) > maxValue {
		return false
	}
	s = strings.ToLower(strings.Trim(s, "[] \t"))
	switch s {
	case "", "n/a", "not supported", "not found", "unknown", "undefined", "err!", "error", "reset required", "no permission", "insufficient permissions", "??.??.??.??.??":
		return false
	}
	for _, sentence := range []string{"unknown error", "gpu is lost", "gpu requires reset", "has been deprecated", "function not found", "not supported in", "unable to determine"} {
		if strings.Contains(s, sentence) {
			return false
		}
	}
	return true
}

const (
	maxDepth = 32
	maxGPUs  = 1024
)

// announced is the number of GPUs that the report says are attached.
func (n *node) announced() (int, error) {
	said := n.kid("attached_gpus")
	if said == nil {
		return 0, errors.New("nvidia-smi does not say how many GPUs are attached")
	}
	count, err := strconv.Atoi(said.text)
	if found := len(n.all("gpu")); err != nil || count < found || count > maxGPUs {
		return 0, fmt.Errorf("nvidia-smi announces %q GPUs and lists %d", said.text, found)
	}
	return count, nil
}

// address is a GPU's on the bus. nvidia-smi writes the domain with 8 digits, the kernel with 4.
func (n *node) address() string {
	return kernelAddress(n.fact("", "@id", "pci/pci_bus_id", "pci/bus_id").Value)
}

func kernelAddress(id string) string {
	id = strings.ToLower(id)
	if domain, rest, ok := strings.Cut(id, ":"); ok && len(domain) == 8 && strings.HasPrefix(domain, "0000") {
		return domain[4:] + ":" + rest
	}
	return id
}
