package result

// Warmup is what was sent of a point before its window opened. A sweep's and a prefill pass's is what the plan's warm-up sent, any other
// point's all; probes are none of it.
type Warmup struct {
	Requests         int      `json:"requests"`
	DurationS        float64  `json:"duration_s"`                  // from the sending of the first of them to the window's start
	Stable           *bool    `json:"stable,omitempty"`            // the load was, as the window opened; nil where none was asked for
	Steps            int      `json:"steps,omitempty"`             // of a sweep's warm-up until it is stable
	ThroughputSpread *float64 `json:"throughput_spread,omitempty"` // of the last three of them: (highest − lowest) / mean
	TTFTSpread       *float64 `json:"ttft_spread,omitempty"`       // of their median TTFT
}
