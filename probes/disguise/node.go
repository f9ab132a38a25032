package disguise

import (
	"regexp"
	"slices"
	"strings"
)

// kernelNames is the folder whose names are the kernel's own, such as node1: no host is meant there.
const kernelNames = "/sys/devices/system/"

// Node finds the name of a machine in texts, in each of its spellings. One of none finds nothing.
type Node []*regexp.Regexp

// InAnyCase is for texts that may hold the name.
func InAnyCase(node string) Node {
	if len(node) < 3 || node == "localhost" {
		return nil
	}
	return spellings("(?i)", node)
}

// AsWritten is for all other texts; it finds no name that may be a word of another meaning.
func AsWritten(node string) Node {
	short, _, dotted := strings.Cut(node, ".")
	if len(short) < 4 || !dotted && !strings.ContainsAny(short, "0123456789-") || short == "localhost" {
		return nil
	}
	return spellings("", node)
}

func spellings(flags, node string) Node {
	short, _, _ := strings.Cut(node, ".")
	names := []string{node, short}
	for _, name := range names {
		names = append(names, strings.ReplaceAll(name, "-", "--")) // as device mapper writes it
	}
	slices.Sort(names)
	var n Node
	for _, name := range slices.Compact(names) {
		n = append(n, regexp.MustCompile(flags+regexp.QuoteMeta(kernelNames)+`\S*|`+flags+regexp.QuoteMeta(name)))
	}
	return n
}

// Cut puts [host] in the place of the name. A longer word is another one, but "_" parts words: volume groups are named rhel_<host>.
func (n Node) Cut(s string) string {
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
