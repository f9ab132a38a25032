package point

import "assay/runner/metrics"

// Block is a distribution that the tables show, with the name a published page uses.
type Block struct {
	Name, ID string
	Required bool // stands also when no point has it
	Of       func(*metrics.Summary) *metrics.Distribution
}

// Blocks lists the distributions in the order of the tables.
func Blocks() []Block {
	return []Block{
		{"Time to first token (TTFT), ms", "ttft_ms", true, TTFT},
		{"Time to first answer token (TTFAT), ms", "ttfat_ms", false, func(s *metrics.Summary) *metrics.Distribution { return s.TTFATMS }},
		{"Time per output token (TPOT), ms", "tpot_ms", true, TPOT},
		{"Query latency (E2E), ms", "e2e_ms", true, func(s *metrics.Summary) *metrics.Distribution { return s.E2EMS }},
		{"Inter-token latency (ITL), ms", "itl_ms", true, ITL},
		{"Client queue, ms", "queue_ms", false, func(s *metrics.Summary) *metrics.Distribution { return s.QueueMS }},
		{"Connection set-up, ms", "connect_ms", false, func(s *metrics.Summary) *metrics.Distribution { return s.ConnectMS }},
	}
}

// Statistic is one row of a block. Needs is how many samples it takes to mean something: until
// one of them lies in the part that a percentile cuts off.
type Statistic struct {
	Name  string
	Of    func(metrics.Distribution) float64
	Needs int64
}

// Statistics lists the rows of a block.
func Statistics() []Statistic {
	return []Statistic{
		{"Minimum", func(d metrics.Distribution) float64 { return d.Min }, 1},
		{"Average", func(d metrics.Distribution) float64 { return d.Mean }, 1},
		{"P50", func(d metrics.Distribution) float64 { return d.P50 }, 1},
		P90(),
		{"P95", func(d metrics.Distribution) float64 { return d.P95 }, 20},
		{"P99", func(d metrics.Distribution) float64 { return d.P99 }, 100},
		{"P999", func(d metrics.Distribution) float64 { return d.P999 }, 1000},
		{"Maximum", func(d metrics.Distribution) float64 { return d.Max }, 1},
	}
}

// P90 is the percentile of the headlines.
func P90() Statistic {
	return Statistic{"P90", func(d metrics.Distribution) float64 { return d.P90 }, 10}
}

// LowStatistics are the mean and the percentiles up to the 90th, as throughput reports have them.
func LowStatistics() []Statistic {
	return []Statistic{
		{"Mean", func(d metrics.Distribution) float64 { return d.Mean }, 1},
		{"P1", func(d metrics.Distribution) float64 { return d.P1 }, 100},
		{"P10", func(d metrics.Distribution) float64 { return d.P10 }, 10},
		{"P25", func(d metrics.Distribution) float64 { return d.P25 }, 4},
		{"P50", func(d metrics.Distribution) float64 { return d.P50 }, 1},
		{"P75", func(d metrics.Distribution) float64 { return d.P75 }, 4},
		P90(),
	}
}

// StatisticOf is a statistic of a distribution; nil for none.
func StatisticOf(d *metrics.Distribution, st Statistic) *float64 {
	if d == nil {
		return nil
	}
	v := st.Of(*d)
	return &v
}

// TTFT is the times to first token.
func TTFT(s *metrics.Summary) *metrics.Distribution { return s.TTFTMS }

// TPOT is the times per output token.
func TPOT(s *metrics.Summary) *metrics.Distribution { return s.TPOTMS }

// ITL is the inter-token latencies.
func ITL(s *metrics.Summary) *metrics.Distribution { return s.ITLMS }
