package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// none stands where there is no number; a report never prints 0 or N/A for it.
const none = "—"

// grouped writes v with thousands separators and a fixed number of decimals: "5,489.4".
func grouped(v float64, decimals int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return none
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

// measure writes a measured value with as many decimals as it deserves: three significant digits below 100, one decimal above.
func measure(v float64) string {
	switch a := math.Abs(v); {
	case a == 0:
		return "0"
	case a >= 10:
		return grouped(v, 1)
	case a >= 1:
		return grouped(v, 2)
	case a >= 0.1:
		return grouped(v, 3)
	default:
		return strings.Replace(strconv.FormatFloat(v, 'g', 3, 64), "-", "−", 1)
	}
}

func whole(v float64) string   { return grouped(v, 0) }
func hundred(v float64) string { return grouped(v, 2) }
func myriad(v float64) string  { return grouped(v, 4) }
func tenth(v float64) string   { return grouped(v, 1) }

// plain writes v as short as it reads back: "140", "0.5".
func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// size writes bytes in binary units: "192 GiB", "1.97 TiB".
func size(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	v, u := float64(n), 0
	for math.Abs(v) >= 1024 && u < len(units)-1 {
		v, u = v/1024, u+1
	}
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", v), "0"), ".") + " " + units[u]
}

// memory writes bytes of RAM as the system tells them: "2,015 GiB", "8 GiB".
func memory(n int64) string {
	if n >= 10<<30 {
		return grouped(float64(n)/(1<<30), 0) + " GiB"
	}
	return size(n)
}

// capacity writes bytes of storage in the decimal units of its vendors: "1.6 TB".
func capacity(n int64) string {
	if n >= 1e12 {
		return plain(math.Round(float64(n)/1e11)/10) + " TB"
	}
	return plain(math.Round(float64(n)/1e8)/10) + " GB"
}

// span writes a length of time for people: "11 h 29 min", "2 min 5 s", "4.20 s", "12 ms".
func span(us int64) string {
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

// instant writes a time in UTC to the second.
func instant(us int64) string {
	if us == 0 {
		return none
	}
	return time.UnixMicro(us).UTC().Format("2006-01-02 15:04:05 UTC")
}

// day writes the date in UTC.
func day(us int64) string {
	if us == 0 {
		return none
	}
	return time.UnixMicro(us).UTC().Format("2006-01-02")
}

// short cuts a hash for reading; the whole one stands in the identity.
func short(hash string, n int) string {
	if len(hash) <= n {
		return hash
	}
	return hash[:n]
}

// plural writes "1 point", "7 points".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return whole(float64(n)) + " " + noun + "s"
}

// tokens writes a context length: "8K", "1019K", "1,000".
func tokens(n int) string {
	if n >= 1024 && n%1024 == 0 {
		return fmt.Sprintf("%dK", n/1024)
	}
	return whole(float64(n))
}
