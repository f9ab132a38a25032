package figure

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// None stands where there is no number; a report never prints 0 or N/A for it.
const None = "—"

// Grouped writes v with thousands separators and a fixed number of decimals: "5,489.4".
func Grouped(v float64, decimals int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return None
	}
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	sign, whole, frac := "", s, ""
	if strings.HasPrefix(s, "-") {
		sign, whole = "−", s[1:]
	}
	if i := strings.IndexByte(whole, '.'); i >= 0 {
		whole, frac = whole[:i], whole[i:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return sign + whole + frac
}

// Measure writes a measured value with as many decimals as it deserves: three significant digits below 100, one decimal above.
func Measure(v float64) string {
	switch a := math.Abs(v); {
	case a == 0:
		return "0"
	case a >= 10:
		return Grouped(v, 1)
	case a >= 1:
		return Grouped(v, 2)
	case a >= 0.1:
		return Grouped(v, 3)
	case a < 0.001:
		return "<0.001"
	default:
		return strings.Replace(strconv.FormatFloat(v, 'g', 3, 64), "-", "−", 1)
	}
}

// Brief is Measure without decimals from 1,000 on, for values that are read at a glance.
func Brief(v float64) string {
	if math.Abs(v) >= 1000 {
		return Grouped(v, 0)
	}
	return Measure(v)
}

// Whole writes no decimals.
func Whole(v float64) string { return Grouped(v, 0) }

// Tenth writes one decimal.
func Tenth(v float64) string { return Grouped(v, 1) }

// Hundred writes two decimals.
func Hundred(v float64) string { return Grouped(v, 2) }

// Myriad writes four decimals.
func Myriad(v float64) string { return Grouped(v, 4) }

// Plain writes v as short as it reads back: "140", "0.5".
func Plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// Size writes bytes in binary units: "192 GiB", "1.97 TiB".
func Size(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	v, u := float64(n), 0
	for math.Abs(v) >= 1024 && u < len(units)-1 {
		v, u = v/1024, u+1
	}
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", v), "0"), ".") + " " + units[u]
}

// Memory writes bytes of RAM as the system tells them: "2,015 GiB", "8 GiB".
func Memory(n int64) string {
	switch {
	case n >= 1000<<30:
		return Grouped(float64(n)/(1<<30), 0) + " GiB"
	case n >= 10<<30:
		return Plain(math.Round(float64(n)/(1<<30)*10)/10) + " GiB"
	}
	return Size(n)
}

// Capacity writes bytes of storage in the decimal units of its vendors: "1.6 TB".
func Capacity(n int64) string {
	if n >= 1e12 {
		return Plain(math.Round(float64(n)/1e11)/10) + " TB"
	}
	return Plain(math.Round(float64(n)/1e8)/10) + " GB"
}

// Span writes a length of time for people: "11 h 29 min", "2 min 5 s", "4.20 s", "12 ms".
func Span(us int64) string {
	d := time.Duration(us) * time.Microsecond
	switch {
	case d >= time.Hour:
		return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
	case d >= time.Minute:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	case d >= time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	default:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
}

// Instant writes a time in UTC to the second.
func Instant(us int64) string {
	if us == 0 {
		return None
	}
	return time.UnixMicro(us).UTC().Format("2006-01-02 15:04:05 UTC")
}

// Day writes the date in UTC.
func Day(us int64) string {
	if us == 0 {
		return None
	}
	return time.UnixMicro(us).UTC().Format("2006-01-02")
}

// Short cuts a hash for reading; the whole one stands in the identity.
func Short(hash string, n int) string {
	if len(hash) <= n {
		return hash
	}
	return hash[:n]
}

// Plural writes "1 point", "7 points".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Whole(float64(n)) + " " + noun + "s"
}

// Tokens writes a context length: "8K", "1019K", "1,000".
func Tokens(n int) string {
	if n >= 1024 && n%1024 == 0 {
		return fmt.Sprintf("%dK", n/1024)
	}
	return Whole(float64(n))
}
