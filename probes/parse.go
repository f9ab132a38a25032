package probes

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// textFact is a file's text as a fact; an empty file is unknown.
func textFact(h Host, name string) Fact[string] {
	s, err := h.text(name)
	if err != nil {
		return Unknown[string]("%s", err)
	}
	if s == "" {
		return Unknown[string]("%s is empty", name)
	}
	return Known(s, name)
}

// intFact is a file's whole number as a fact.
func intFact[T int | int64](h Host, name string) Fact[T] {
	f := textFact(h, name)
	return convert(f, func(s string) (T, error) {
		n, err := strconv.ParseInt(s, 0, 64)
		return T(n), err
	})
}

// convert turns a fact into another, with the same source. A value that cannot be parsed is unknown.
func convert[A, B any](f Fact[A], parse func(A) (B, error)) Fact[B] {
	if !f.IsKnown() {
		return Fact[B]{Unknown: f.Unknown, NA: f.NA}
	}
	v, err := parse(f.Value)
	if err != nil {
		return Unknown[B]("%s reads %q", f.Source, fmt.Sprint(f.Value))
	}
	return Known(v, f.Source)
}

// errNoValue marks a text that stands for no value.
var errNoValue = fmt.Errorf("no value")

// first gives the first known fact, or the first of all.
func first[T any](facts ...Fact[T]) Fact[T] {
	for _, f := range facts {
		if f.IsKnown() {
			return f
		}
	}
	return facts[0]
}

// bracketed gives the chosen word of "always [madvise] never".
func bracketed(s string) (string, error) {
	_, rest, ok := strings.Cut(s, "[")
	word, _, closed := strings.Cut(rest, "]")
	if !ok || !closed || word == "" {
		return "", errNoValue
	}
	return word, nil
}

// keyValues reads lines of "key<sep>value".
func keyValues(text, sep string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		if k, v, ok := strings.Cut(line, sep); ok {
			out[strings.TrimSpace(k)] = strings.TrimSpace(v)
		}
	}
	return out
}

// parseCPUList counts the CPUs of "0-15,64-79".
func parseCPUList(s string) ([]int, error) {
	var cpus []int
	for part := range strings.SplitSeq(s, ",") {
		if part == "" {
			continue
		}
		lo, hi, ranged := strings.Cut(part, "-")
		a, err := strconv.Atoi(lo)
		b := a
		if err == nil && ranged {
			b, err = strconv.Atoi(hi)
		}
		if err != nil || a < 0 || b < a || b-a > 1<<16 {
			return nil, fmt.Errorf("list of CPUs %q", s)
		}
		for c := a; c <= b; c++ {
			cpus = append(cpus, c)
		}
	}
	return cpus, nil
}

// distinct gives the different values, in order.
func distinct[T cmp.Ordered](values []T) []T {
	out := slices.Clone(values)
	slices.Sort(out)
	return slices.Compact(out)
}

// tally writes "2 × a, 1 × b" for mixed values and "a" for equal ones.
func tally(values []string) string {
	kinds := distinct(values)
	if len(kinds) == 1 {
		return kinds[0]
	}
	parts := make([]string, len(kinds))
	for i, k := range kinds {
		n := 0
		for _, v := range values {
			if v == k {
				n++
			}
		}
		parts[i] = fmt.Sprintf("%d × %s", n, k)
	}
	return strings.Join(parts, ", ")
}

// sizeText writes bytes in binary units: "64 GiB".
func sizeText(bytes int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	v, i := float64(bytes), 0
	for v >= 1024 && i < len(units)-1 {
		v, i = v/1024, i+1
	}
	if v == math.Trunc(v) || v >= 100 {
		return fmt.Sprintf("%.0f %s", v, units[i])
	}
	return fmt.Sprintf("%.1f %s", v, units[i])
}
