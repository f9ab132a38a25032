package probes

import (
	"context"
	"strings"
	"time"
)

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

// Samplers is every source of telemetry that the host has: CPU, memory, disks and network, and each vendor's GPUs. GPUs are numbered in
// the order of the SUT's accelerators. A sampler is not safe for use by two goroutines at once.
func Samplers(h Host) []Sampler {
	list := []Sampler{&hostSampler{host: h}, &throughputSampler{host: h}}
	numbers := gpuNumbers(h)
	if cards, _ := accelerators(h, amdVendor); len(cards) > 0 {
		list = append(list, &amdSampler{host: h, cards: cards, numbers: numbers})
	}
	if cards, _ := accelerators(h, nvidiaVendor); len(cards) > 0 || h.isDir("/proc/driver/nvidia") {
		list = append(list, &nvidiaSampler{host: h, numbers: numbers})
	}
	return list
}

// gpuNumbers numbers the devices of both vendors in the order of their addresses.
func gpuNumbers(h Host) map[string]int {
	var all []string
	for _, vendor := range []string{amdVendor, nvidiaVendor} {
		cards, _ := accelerators(h, vendor)
		for _, c := range cards {
			all = append(all, c.address)
		}
	}
	numbers := map[string]int{}
	for i, address := range distinct(all) {
		numbers[address] = i
	}
	return numbers
}

// Unit gives a series' unit by its suffix, "" for a plain number: "gpu0.power_w" is in W.
func Unit(series string) string {
	for _, u := range []struct{ suffix, unit string }{
		{"_bytes_per_s", "B/s"}, {"_bytes", "B"}, {"_pct", "%"}, {"_mhz", "MHz"}, {"_ms", "ms"}, {"_w", "W"}, {"_c", "°C"}, {"_j", "J"}, {"_s", "s"},
	} {
		if strings.HasSuffix(series, u.suffix) {
			return u.unit
		}
	}
	return ""
}

// stamped collects the samples of one instant.
type stamped struct {
	at   int64
	list []Sample
}

func newStamped() *stamped { return &stamped{at: time.Now().UnixMicro()} }

func (s *stamped) add(series string, value float64) {
	s.list = append(s.list, Sample{AtUS: s.at, Series: series, Value: value})
}

// addFact adds a value that is known.
func (s *stamped) addFact(series string, f Fact[float64]) {
	if f.IsKnown() {
		s.add(series, f.Value)
	}
}
