package amdsmi

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"assay/probes/sut"
)

// answer is what one command said of one GPU. Facts name the command as their source.
type answer struct {
	node
	command string // "amd-smi static"
	why     error  // why there is no answer
}

// missing says why a fact has no value.
func (a answer) missing(path string, v any) string {
	switch {
	case a.why != nil:
		return fmt.Sprintf("%s: %s", a.command, a.why)
	case a.object == nil:
		return a.command + " does not list this GPU"
	case v == nil:
		return fmt.Sprintf("%s gives no %s", a.command, path)
	}
	return fmt.Sprintf("%s: %s reads %q", a.command, path, bare(v))
}

// text gives a word of the answer, by the first of its spellings that is there.
func (a answer) text(paths ...string) sut.Fact[string] {
	path, v := a.first(paths...)
	s := bare(v)
	if v == nil || none(s) {
		return sut.Unknown[string]("%s", a.missing(path, v))
	}
	return sut.Known(s, a.command+": "+path)
}

// number gives a number in a unit.
func (a answer) number(unit string, paths ...string) sut.Fact[float64] {
	path, v := a.first(paths...)
	n, is, ok := quantity(v)
	factor, fits := scale(is, unit)
	if !ok || !fits {
		return sut.Unknown[float64]("%s", a.missing(path, v))
	}
	return sut.Known(n*factor, a.command+": "+path)
}

// positive refuses 0, which stands for a limit that the tool does not know.
func positive(v float64) (float64, error) {
	if v <= 0 {
		return 0, sut.ErrNoValue
	}
	return v, nil
}

// whole turns a number into one without a fraction.
func whole[T int | int64](v float64) (T, error) {
	if v != math.Trunc(v) || math.Abs(v) > 1<<53 {
		return 0, sut.ErrNoValue
	}
	return T(v), nil
}

// bare gives a value as text: {"value": 750, "unit": "W"} is "750 W".
func bare(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return strings.TrimSpace(v)
	case map[string]any:
		value, ok := lookup(v, "value")
		if !ok {
			return ""
		}
		unit, _ := lookup(v, "unit")
		return strings.TrimSpace(bare(value) + " " + bare(unit))
	case json.Number, bool:
		return fmt.Sprint(v)
	}
	return ""
}

// none tells the texts that stand for no value.
func none(s string) bool {
	switch strings.ToLower(s) {
	case "", "n/a", "na", "none", "unknown", "null", "-", "not supported", "[not supported]", "err!", "unknown error", "[unknown error]":
		return true
	}
	return strings.HasPrefix(s, "N/A") || strings.HasPrefix(s, "AMDSMI_STATUS_") || allOnes(s)
}

// allOnes tells the numbers with every bit set, of 16, 32 and 64 bits.
func allOnes(s string) bool {
	switch strings.TrimSuffix(strings.ToLower(strings.Fields(s + " x")[0]), ".0") {
	case "65535", "4294967295", "18446744073709551615", "0xffff", "0xffffffff", "0xffffffffffffffff":
		return true
	}
	return false
}

// quantity reads a number with its unit: 750, "750", "750 W" or {"value": 750, "unit": "W"}. Zero is a number; a sentinel is none.
func quantity(v any) (n float64, unit string, ok bool) {
	s := bare(v)
	if none(s) {
		return 0, "", false
	}
	m := regexp.MustCompile(`^(-?[0-9]+(?:\.[0-9]+)?)\s*([A-Za-z°%/]*)$`).FindStringSubmatch(s)
	if m == nil {
		return 0, "", false
	}
	n, err := strconv.ParseFloat(m[1], 64)
	return n, m[2], err == nil && n < math.MaxUint32*1e9
}

// scale gives the factor from a unit of the tools to one of ours; what has no unit is taken to be in ours. Their MB are MiB.
func scale(from, to string) (float64, bool) {
	switch {
	case from == "" || strings.EqualFold(from, to), to == "°C" && from == "C":
		return 1, true
	case to == "bytes" && from == "B":
		return 1, true
	case to == "bytes" && from == "KB":
		return 1 << 10, true
	case to == "bytes" && (from == "MB" || from == "MiB"):
		return 1 << 20, true
	case to == "bytes" && (from == "GB" || from == "GiB"):
		return 1 << 30, true
	}
	return 0, false
}
