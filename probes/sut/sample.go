package sut

import "time"

// Sample is one value of one series at one instant.
type Sample struct {
	AtUS   int64   `json:"t"` // UTC, microseconds
	Series string  `json:"s"` // "gpu0.power_w", "host.cpu_pct", "engine.running"
	Value  float64 `json:"v"`
}

// Batch collects the samples of one instant.
type Batch struct {
	AtUS int64
	List []Sample
}

// NewBatch starts a batch now.
func NewBatch() *Batch { return &Batch{AtUS: time.Now().UnixMicro()} }

// Add adds a value.
func (s *Batch) Add(series string, value float64) {
	s.List = append(s.List, Sample{AtUS: s.AtUS, Series: series, Value: value})
}

// AddFact adds a value that is known.
func (s *Batch) AddFact(series string, f Fact[float64]) {
	if f.IsKnown() {
		s.Add(series, f.Value)
	}
}
