package figure

import "testing"

func TestNumbers(t *testing.T) {
	tests := []struct{ got, want string }{
		{Measure(5489.382), "5,489.4"}, {Measure(9.254), "9.25"}, {Measure(51.84), "51.8"}, {Measure(0), "0"}, {Measure(0.0421), "0.0421"}, {Measure(-3.14159), "−3.14"}, {Measure(1293983.3), "1,293,983.3"},
		{Grouped(1234567.891, 2), "1,234,567.89"}, {Grouped(999, 0), "999"}, {Grouped(-1000, 0), "−1,000"},
		{Size(0), "0 B"}, {Size(1 << 30), "1 GiB"}, {Size(2 << 40), "2 TiB"}, {Memory(2015 << 30), "2,015 GiB"}, {Capacity(1_600_321_314_816), "1.6 TB"}, {Capacity(480_103_981_056), "480.1 GB"},
		{Span(41_000), "41 ms"}, {Span(4_200_000), "4.20 s"}, {Span(125_000_000), "2 min 5 s"}, {Span(41_340_000_000), "11 h 29 min"},
		{Tokens(8192), "8K"}, {Tokens(1019 * 1024), "1019K"}, {Tokens(1000), "1,000"}, {Plural(1, "point"), "1 point"}, {Plural(1200, "point"), "1,200 points"},
		{Instant(1_793_109_720_000_000), "2026-10-27 14:02:00 UTC"}, {Instant(0), None},
	}
	for _, test := range tests {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}
