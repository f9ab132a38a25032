package metrics

// Window is a span of a recording, microseconds since its epoch; StartUS inside, EndUS outside.
type Window struct {
	StartUS int64
	EndUS   int64
}

// Holds tells whether an instant is in the window.
func (w Window) Holds(us int64) bool { return us >= w.StartUS && us < w.EndUS }

// Seconds is the window's length; 0 for one that never opened.
func (w Window) Seconds() float64 { return float64(max(0, w.EndUS-w.StartUS)) / 1e6 }

// Distribution describes samples in milliseconds: exact percentiles, linear interpolation between closest ranks.
type Distribution struct {
	Min  float64 `json:"min"`
	Mean float64 `json:"mean"`
	P1   float64 `json:"p1"`
	P5   float64 `json:"p5"`
	P10  float64 `json:"p10"`
	P25  float64 `json:"p25"`
	P50  float64 `json:"p50"`
	P75  float64 `json:"p75"`
	P90  float64 `json:"p90"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
	Max  float64 `json:"max"`
	N    int64   `json:"n"`
}

// Summary is the metrics of a point (contract section 4). A pointer is nil when the number is not known.
type Summary struct {
	RequestsIssued     int            `json:"requests_issued"`
	RequestsCompleted  int            `json:"requests_completed"`
	RequestsFailed     int            `json:"requests_failed"`
	Censored           int            `json:"censored"`
	Outcomes           map[string]int `json:"outcomes"`
	DurationS          float64        `json:"duration_s"`
	QPS                *float64       `json:"qps,omitempty"`
	InputTokens        *int64         `json:"input_tokens,omitempty"`
	OutputTokens       *int64         `json:"output_tokens,omitempty"`
	AvgOutputTokens    *float64       `json:"avg_output_tokens,omitempty"`
	SystemTPS          *float64       `json:"system_tps,omitempty"`
	SystemTPSCompleted *float64       `json:"system_tps_completed,omitempty"`
	TotalTPS           *float64       `json:"total_tps,omitempty"`
	PromptTPS          *float64       `json:"prompt_tps,omitempty"`
	TPSPerUser         *float64       `json:"tps_per_user,omitempty"`
	TPSPerUserTPOT     *float64       `json:"tps_per_user_tpot,omitempty"`
	TPSPerRequest      *float64       `json:"tps_per_request,omitempty"`
	TTFTMS             *Distribution  `json:"ttft_ms,omitempty"`
	TTFATMS            *Distribution  `json:"ttfat_ms,omitempty"`
	TPOTMS             *Distribution  `json:"tpot_ms,omitempty"`
	ITLMS              *Distribution  `json:"itl_ms,omitempty"`
	E2EMS              *Distribution  `json:"e2e_ms,omitempty"`
	ConnectMS          *Distribution  `json:"connect_ms,omitempty"`
	QueueMS            *Distribution  `json:"queue_ms,omitempty"`
	ActiveMean         *float64       `json:"active_mean,omitempty"`
	Utilization        *float64       `json:"utilization,omitempty"` // set over the whole run by Utilize
	TPSPerNode         *float64       `json:"tps_per_node,omitempty"`
	CachedTokens       *int64         `json:"cached_tokens,omitempty"`
	PrefixHitRate      *float64       `json:"prefix_hit_rate,omitempty"`
}

// Shape is what a summary needs to know of the point beside its recording.
type Shape struct {
	Concurrency int // for tps_per_user; 0 when the point has none
	DecodeNodes int // for tps_per_node; 0 when not asked
	Prefill     bool
}
