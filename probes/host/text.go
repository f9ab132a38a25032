package host

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"assay/probes/sut"
)

// TextFact is a file's text as a fact; an empty file, a driver's word for none and bytes that are no text are unknown.
func TextFact(h Host, name string) sut.Fact[string] {
	s, err := h.Text(name)
	switch {
	case err != nil:
		return sut.Unknown[string]("%s", err)
	case s == "":
		return sut.Unknown[string]("%s is empty", name)
	case !utf8.ValidString(s):
		return sut.Unknown[string]("%s holds bytes that are no text", name)
	}
	switch strings.ToLower(strings.Trim(s, "[]")) {
	case "n/a", "err!", "not supported", "unknown error":
		return sut.Unknown[string]("%s reads %q", name, s)
	}
	return sut.Known(s, name)
}

// IntFact is a file's whole number as a fact. All ones of 32 bits are what a register reads that does not answer, and -1 is none.
func IntFact[T int | int64](h Host, name string) sut.Fact[T] {
	f := TextFact(h, name)
	return sut.Convert(f, func(s string) (T, error) {
		n, err := strconv.ParseInt(s, 0, 64)
		if err == nil && (n == math.MaxUint32 || n < 0) {
			err = sut.ErrNoValue
		}
		return T(n), err
	})
}

// Bracketed gives the chosen word of "always [madvise] never".
func Bracketed(s string) (string, error) {
	_, rest, ok := strings.Cut(s, "[")
	word, _, closed := strings.Cut(rest, "]")
	if !ok || !closed || word == "" {
		return "", sut.ErrNoValue
	}
	return word, nil
}

// KeyValues reads lines of "key<sep>value".
func KeyValues(text, sep string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		if k, v, ok := strings.Cut(line, sep); ok {
			out[strings.TrimSpace(k)] = strings.TrimSpace(v)
		}
	}
	return out
}

// Distinct gives the different values, in order.
func Distinct[T cmp.Ordered](values []T) []T {
	out := slices.Clone(values)
	slices.Sort(out)
	return slices.Compact(out)
}

// Tally writes "2 × a, 1 × b" for mixed values and "a" for equal ones.
func Tally(values []string) string {
	kinds := Distinct(values)
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

// SizeText writes bytes in binary units: "64 GiB".
func SizeText(bytes int64) string {
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

// NotNegative refuses the -1 that stands for none.
func NotNegative(n int) (int, error) {
	if n < 0 {
		return 0, sut.ErrNoValue
	}
	return n, nil
}

// HexID writes KFD's decimal unique id as sysfs does.
func HexID(s string) string {
	if v, err := strconv.ParseUint(s, 10, 64); err == nil {
		return fmt.Sprintf("%016x", v)
	}
	return s
}

// ParseSwitch reads what the kernel writes for on and off.
func ParseSwitch(s string) (bool, error) {
	switch s {
	case "0", "N", "n", "off":
		return false, nil
	case "1", "Y", "y", "on":
		return true, nil
	}
	return false, sut.ErrNoValue
}

// LeadingNumber reads "400 Gb/sec (4X NDR)" and "16.0 GT/s PCIe".
func LeadingNumber(s string) (float64, error) {
	number, _, _ := strings.Cut(s, " ")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v > 0 && v < 1e6) {
		return 0, sut.ErrNoValue
	}
	return v, nil
}

// AfterColon reads "4: ACTIVE".
func AfterColon(s string) (string, error) {
	if _, word, ok := strings.Cut(s, ":"); ok && strings.TrimSpace(word) != "" {
		return strings.TrimSpace(word), nil
	}
	return "", sut.ErrNoValue
}

// KernelRelease is the running kernel's version.
func KernelRelease(h Host) sut.Fact[string] {
	if u, err := h.Kernel(); err == nil {
		return sut.Known(u.Release, "uname")
	}
	return TextFact(h, "/proc/sys/kernel/osrelease")
}
