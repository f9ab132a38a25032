package host

import "assay/probes/disguise"

// WithoutNode cuts the machine's own name out of a text that may hold it.
func (h Host) WithoutNode(s string) string { return h.node(disguise.InAnyCase).Cut(s) }

// SafePaths gives a function that writes a path as a document does: without addresses and without the machine's own name.
func (h Host) SafePaths() func(string) string {
	name, ids, rest := h.node(disguise.InAnyCase), identifiers(), h.ForDocument()
	return func(s string) string { return rest(cut(name.Cut(s), ids)) }
}

// node is the machine's name, where it is known, as find looks for it.
func (h Host) node(find func(string) disguise.Node) disguise.Node {
	u, err := h.Kernel()
	if err != nil {
		return nil
	}
	return find(u.Nodename)
}
