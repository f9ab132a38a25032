package usage

import (
	"maps"
	"slices"

	"assay/probes/sut"
)

// shortest is the time between two readings, µs, below which a rate tells of nothing but the clock's grain.
const shortest = 100_000

// meter turns counts into their growth per second since the last reading.
type meter struct {
	atUS   int64
	counts map[string]float64
}

// rates adds the growth of each count to a batch. What is new, what began anew, and what was read a moment ago has none.
func (m *meter) rates(now map[string]float64, out *sut.Batch) {
	if m.counts != nil && out.AtUS-m.atUS < shortest {
		return
	}
	seconds := float64(out.AtUS-m.atUS) / 1e6
	for _, series := range slices.Sorted(maps.Keys(now)) {
		if old, had := m.counts[series]; had && now[series] >= old {
			out.Add(series, (now[series]-old)/seconds)
		}
	}
	m.atUS, m.counts = out.AtUS, now
}
