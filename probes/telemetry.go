package probes

import "context"

// Sample is one value of one series at one instant.
type Sample struct {
	AtUS   int64   `json:"t"` // UTC, microseconds
	Series string  `json:"s"` // "gpu0.power_w", "host.cpu_pct", "engine.running"
	Value  float64 `json:"v"`
}

// Sampler reads one source of telemetry. Sample takes what is there now; a series the machine does not have is left out.
type Sampler interface {
	Name() string
	Sample(ctx context.Context) ([]Sample, error)
}
