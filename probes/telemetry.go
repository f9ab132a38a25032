package probes

import (
	"context"
	"strings"

	"assay/probes/gpu"
	"assay/probes/machine"
)

// Sampler reads one source of telemetry. Sample takes what is there now; a series the machine does not have is left out.
type Sampler interface {
	Name() string
	Sample(ctx context.Context) ([]Sample, error)
}

// Samplers is every source of telemetry that the host has: CPU, memory, disks and network, and each vendor's GPUs. GPUs are numbered in
// the order of the SUT's accelerators. A sampler is not safe for use by two goroutines at once.
func Samplers(h Host) []Sampler {
	list := []Sampler{&machine.HostSampler{Host: h}, &machine.ThroughputSampler{Host: h}}
	if s, ok := gpu.NewAMDSampler(h); ok {
		list = append(list, s)
	}
	if s, ok := gpu.NewNVIDIASampler(h); ok {
		list = append(list, s)
	}
	return list
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
