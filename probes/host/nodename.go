package host

import (
	"regexp"
	"strings"
)

// kernelNames is the folder whose names are the kernel's own, such as node1: no host is meant there.
const kernelNames = "/sys/devices/system/"

// nodeName finds the name of a machine in texts, in each of its spellings. One of none finds nothing.
type nodeName []*regexp.Regexp

// inAnyCase is for texts that may hold the name.
func inAnyCase(node string) nodeName {
	if len(node) < 3 || node == "localhost" {
		return nil
	}
	return spellings("(?i)", node)
}

// asWritten is for all other texts; it finds no name that may be a word of another meaning.
func asWritten(node string) nodeName {
	short, _, dotted := strings.Cut(node, ".")
	if len(short) < 4 || !dotted && !strings.ContainsAny(short, "0123456789-") || short == "localhost" {
		return nil
	}
	return spellings("", node)
}

func spellings(flags, node string) nodeName {
	short, _, _ := strings.Cut(node, ".")
	doubled := strings.ReplaceAll(short, "-", "--") // as device mapper writes it
	var n nodeName
	for _, name := range Distinct([]string{node, short, doubled}) {
		n = append(n, regexp.MustCompile(flags+regexp.QuoteMeta(kernelNames)+`\S*|`+flags+regexp.QuoteMeta(name)))
	}
	return n
}

// cut puts [host] in the place of the name. A longer word is another one, but "_" parts words: volume groups are named rhel_<host>.
func (n nodeName) cut(s string) string {
	for i := len(n) - 1; i >= 0; i-- { // the longer spellings first
		s = cutWord(s, n[i])
	}
	return s
}

func cutWord(s string, word *regexp.Regexp) string {
	var out strings.Builder
	done := 0
	for _, at := range word.FindAllStringIndex(s, -1) {
		from, to := at[0], at[1]
		if strings.HasPrefix(s[from:], kernelNames) || from > 0 && alphanumeric(s[from-1]) || to < len(s) && alphanumeric(s[to]) {
			continue
		}
		out.WriteString(s[done:from] + "[host]")
		done = to
	}
	return out.String() + s[done:]
}

func alphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// WithoutNode cuts the machine's own name out of a text that may hold it.
func (h Host) WithoutNode(s string) string { return h.node(inAnyCase).cut(s) }

// SafePaths gives a function that writes a path as a document does: without addresses and without the machine's own name.
func (h Host) SafePaths() func(string) string {
	name, ids, rest := h.node(inAnyCase), identifiers(), h.ForDocument()
	return func(s string) string { return rest(cut(name.cut(s), ids)) }
}

// node is the machine's name, where it is known, as find looks for it.
func (h Host) node(find func(string) nodeName) nodeName {
	u, err := h.Kernel()
	if err != nil {
		return nil
	}
	return find(u.Nodename)
}
