package wording

import "testing"

func TestFormatsOfValues(t *testing.T) {
	for in, want := range map[float64]string{0: "0.00", 3.14159: "3.14", 91.25: "91.2", 999.95: "1000.0", 1834.2: "1,834", 12345.6: "12,346", 1234567: "1,234,567", -12345: "-12,345", -123: "-123.0"} {
		if got := number(in); got != want {
			t.Errorf("number(%v) = %q, want %q", in, got, want)
		}
	}
	for us, want := range map[int64]string{0: dash, 1_796_158_047_000_000: "2026-12-01 20:47:27"} {
		if got := moment(us); got != want {
			t.Errorf("moment(%d) = %q, want %q", us, got, want)
		}
	}
	for in, want := range map[[2]int64]string{
		{0, 5}: dash, {5, 1}: dash, {1, 250_001}: "250 ms", {1, 12_500_001}: "12.5 s", {1, 65_000_001}: "1 min 05 s", {1, 3_900_000_001}: "1 h 05 min",
	} {
		if got := span(in[0], in[1]); got != want {
			t.Errorf("span(%v) = %q, want %q", in, got, want)
		}
	}
}
