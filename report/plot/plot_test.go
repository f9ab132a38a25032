package plot

import (
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/probes"
)

func TestZeroAxis(t *testing.T) {
	tests := []struct {
		hi   float64
		n    int
		want []string
	}{
		{5489.4, 6, []string{"0", "1,000", "2,000", "3,000", "4,000", "5,000", "6,000"}},
		{73.2, 6, []string{"0", "20", "40", "60", "80"}},
		{6, 6, []string{"0", "1", "2", "3", "4", "5", "6"}},
		{0.31, 3, []string{"0.0", "0.2", "0.4"}},
		{0, 3, []string{"0.0", "0.5", "1.0"}},
		{math.NaN(), 2, []string{"0.0", "0.5", "1.0"}},
		{15903, 4, []string{"0", "5,000", "10k", "15k", "20k"}},
		{2.4e6, 3, []string{"0", "1M", "2M", "3M"}},
	}
	for _, test := range tests {
		a := zeroAxis("", test.hi, test.n)
		var got []string
		for _, v := range a.Ticks {
			got = append(got, a.text(v))
		}
		if d := cmp.Diff(test.want, got); d != "" {
			t.Errorf("zeroAxis(%v, %d):\n%s", test.hi, test.n, d)
		}
		if a.Hi < test.hi {
			t.Errorf("zeroAxis(%v, %d) ends at %v", test.hi, test.n, a.Hi)
		}
	}
}

func TestValueAxis(t *testing.T) {
	tests := []struct {
		name   string
		values []float64
		log    bool
		want   []string
	}{
		{"Concurrency", []float64{32, 40, 64, 128, 512}, false, []string{"0", "100", "200", "300", "400", "500", "600"}},
		{"Concurrency", []float64{1, 2, 4, 8, 16, 32, 64}, true, []string{"1", "2", "4", "8", "16", "32", "64"}},
		{"Context, tokens", []float64{8192, 65536, 1043456}, true, []string{"8K", "16K", "32K", "64K", "128K", "256K", "512K"}},
		{"Concurrency", []float64{7}, false, []string{"0", "2", "4", "6", "8", "10", "12"}},
		{"Concurrency", []float64{1}, false, []string{"0", "1", "2"}},
		{"Rate, requests/s", []float64{0.5, 0.75}, false, []string{"0.0", "0.2", "0.4", "0.6", "0.8"}},
		{"Concurrency", []float64{0, 1, 64}, false, []string{"0", "20", "40", "60", "80"}},
	}
	for _, test := range tests {
		a := valueAxis(test.name, test.values, 6)
		var got []string
		for _, v := range a.Ticks {
			got = append(got, a.text(v))
		}
		if d := cmp.Diff(test.want, got); d != "" || a.Log != test.log {
			t.Errorf("valueAxis(%v): log %v\n%s", test.values, a.Log, d)
		}
		for _, v := range test.values {
			if at := a.at(v); at < 0 || at > 1 {
				t.Errorf("valueAxis(%v) puts %v at %v", test.values, v, at)
			}
		}
	}
}

// saturating is a throughput curve of n points.
func saturating(n int) Chart {
	c := Chart{Title: "saturating", XName: "Concurrency", YName: "tok/s", Series: make([]Line, 1)}
	for i := range n {
		x := float64(i + 1)
		c.Series[0].Data = append(c.Series[0].Data, Datum{X: x, Y: 900 * x / (x + 6), Name: fmt.Sprintf("C%d", i+1), Best: i == n-1})
	}
	return c
}

// steep is a latency curve of n points whose last dwarfs the rest.
func steep(n int) Chart {
	c := Chart{Title: "steep", XName: "Rate", YName: "ms", Series: make([]Line, 1)}
	for i := range n {
		c.Series[0].Data = append(c.Series[0].Data, Datum{X: math.Exp2(float64(i)), Y: math.Exp(float64(i)), Name: fmt.Sprintf("%d/s", i+1)})
	}
	return c
}

// Plots of one, two and thirty points have all of them inside the frame, and no two names on top of each other.
func TestChartSizes(t *testing.T) {
	for _, n := range []int{1, 2, 7, 30} {
		for _, c := range []Chart{saturating(n), steep(n)} {
			p := c.Draw()
			if p.N != n || len(p.Marks) != n {
				t.Errorf("%s of %d points: N %d, %d marks", c.Title, n, p.N, len(p.Marks))
			}
			if len(p.Names) == 0 {
				t.Errorf("%s of %d points: no name was placed", c.Title, n)
			}
			checkInside(t, p)
			checkApart(t, p.Names)
		}
	}
}

func checkInside(t *testing.T, p Plot) {
	t.Helper()
	for _, m := range p.Marks {
		x, y := number64(t, m.X), number64(t, m.Y)
		if x < number64(t, p.Left) || x > number64(t, p.Right) || y < number64(t, p.Top) || y > number64(t, p.Bottom) {
			t.Errorf("%s: %s is outside at %s,%s", p.Title, m.Title, m.X, m.Y)
		}
	}
}

func checkApart(t *testing.T, names []name) {
	t.Helper()
	var boxes []box
	for _, n := range names {
		b := textBox(number64(t, n.X), number64(t, n.Y), 7.2*float64(len(n.Text)), n.Anchor)
		for i, o := range boxes {
			if b.hits(o) {
				t.Errorf("names %q and %q overlap", n.Text, names[i].Text)
			}
		}
		boxes = append(boxes, b)
	}
}

func number64(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A column keeps the extremes of its samples, whatever their number; a long silence breaks the line.
func TestGauges(t *testing.T) {
	c := clock{0, 1_000_000}
	gs := gauges(func(yield func(probes.Sample) bool) {
		for i := range 100_000 {
			v := 10.0
			if i == 31_415 {
				v = 99
			}
			if i > 60_000 && i < 80_000 {
				continue
			}
			if !yield(probes.Sample{AtUS: int64(i) * 10, Series: fmt.Sprintf("gpu%d.power_w", i%8), Value: v}) {
				return
			}
		}
	}, c)
	if len(gs) != 1 || gs[0].Key != "gpu.power_w" || len(gs[0].devices) != 8 {
		t.Fatalf("gauges: %+v", gs)
	}
	if gs[0].all.max != 99 || gs[0].bins[125].max != 99 || gs[0].bins[125].min != 10 {
		t.Errorf("the spike is lost: %+v", gs[0].bins[125])
	}
	if n := len(gs[0].segments()); n != 2 {
		t.Errorf("%d segments, want 2", n)
	}
}

// A counter is drawn as its rate; where it begins anew nothing is drawn, and never a negative rate.
func TestCounters(t *testing.T) {
	values := []float64{100, 110, 130, 5, 15}
	gs := gauges(func(yield func(probes.Sample) bool) {
		for i, v := range values {
			if !yield(probes.Sample{AtUS: int64(i+1) * 2_000_000, Series: "engine.generation_tokens", Value: v}) {
				return
			}
		}
	}, clock{0, 20_000_000})
	if g := gs[0].all; g.n != 3 || g.min != 5 || g.max != 10 {
		t.Errorf("rates: %+v", g)
	}
}

func TestSeriesTitle(t *testing.T) {
	for key, want := range map[string]string{"gpu.power_w": "GPU power, W", "host.cpu_pct": "Host CPU, %", "engine.running": "Engine running", "gpu.vram_used_bytes": "GPU VRAM used, GiB", "engine.kv_usage": "Engine KV usage, %", "gpu.pcie_gbps": "GPU PCIe, Gb/s", "disk.busy_pct": "Disk busy, %", "dram.power_w": "DRAM power, W"} {
		if got := SeriesTitle(key); got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}
