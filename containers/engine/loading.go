package engine

import (
	"slices"
	"strconv"
	"strings"
)

// The parts of a start that logs tell of.
const (
	LoadWeights = "weights" // read from disk and put into the GPU's memory
	LoadCompile = "compile" // torch.compile and its like
	LoadTune    = "tune"    // kernels are tried
	LoadMemory  = "memory"  // what is left is measured and given to the KV cache
	LoadGraphs  = "graphs"  // CUDA or HIP graphs are captured
	LoadWarmup  = "warmup"  // first requests of the server's own
	LoadUp      = "up"      // it serves
)

// LoadLine is a text by which a log tells of a part of the start.
type LoadLine struct{ Phase, Text string }

// Loads tells of which part of the start a line of the log speaks, and how many seconds that took by the server's own word, 0 when the line
// does not say. An engine that is not known speaks as any of them.
func (p Preset) Loads(line string) (phase string, seconds float64) {
	known := p.Loading
	if len(known) == 0 {
		for _, other := range realEngines() {
			known = append(known, other.Loading...)
		}
	}
	i := slices.IndexFunc(known, func(l LoadLine) bool { return strings.Contains(line, l.Text) })
	if i < 0 {
		return "", 0
	}
	_, after, _ := strings.Cut(line, known[i].Text)
	return known[i].Phase, firstSeconds(after)
}

// firstSeconds is the first number of a text that has seconds as its unit: "12.3 s", "22 secs", "elapsed=8.01 s"; 0 when there is none.
func firstSeconds(text string) float64 {
	for text != "" {
		start := strings.IndexAny(text, "0123456789")
		if start < 0 {
			return 0
		}
		text = text[start:]
		end := strings.IndexFunc(text, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
		if end < 0 {
			return 0
		}
		number, unit := strings.TrimSuffix(text[:end], "."), strings.TrimLeft(text[end:], " ")
		text = text[end:]
		word := unit
		if at := strings.IndexFunc(unit, func(r rune) bool { return r < 'a' || r > 'z' }); at >= 0 {
			word = unit[:at]
		}
		if !slices.Contains([]string{"s", "sec", "secs", "seconds"}, word) {
			continue
		}
		if v, err := strconv.ParseFloat(number, 64); err == nil {
			return v
		}
	}
	return 0
}

// Lines tell of a log's new text what of it is a line: they end by LF or, as bars of progress do, by CR.
func Lines(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
}
