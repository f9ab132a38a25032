package probes

import (
	"context"
	"strings"

	"assay/probes/amd"
	"assay/probes/nvidia"
	"assay/probes/usage"
)

// Sampler reads one source of telemetry. Sample takes what is there now; a series the machine does not have is left out.
// One that holds something from its first Sample on, such as a program that goes on reporting, is an io.Closer too: Close lets go of it at
// once, also while a Sample that did not come back in time is still under way, and is called one time when sampling has ended.
type Sampler interface {
	Name() string
	Sample(ctx context.Context) ([]Sample, error)
}

// Samplers is every source of telemetry that the host has: its CPUs, memory, drives, interfaces and meters, and each vendor's GPUs. GPUs are numbered in
// the order of the SUT's accelerators. A sampler is not safe for use by two goroutines at once.
func Samplers(h Host) []Sampler {
	list := []Sampler{usage.NewHost(h), usage.NewThroughput(h)}
	if s, ok := usage.NewPackages(h); ok {
		list = append(list, s)
	}
	if s, ok := usage.NewSensors(h); ok {
		list = append(list, s)
	}
	if s, ok := amd.NewSampler(h); ok {
		list = append(list, s)
	}
	if s, ok := nvidia.NewSampler(h); ok {
		list = append(list, s)
	}
	return list
}

// IsCounter tells a series that only counts up, until what counts begins anew: its growth means something, its value does not.
func IsCounter(series string) bool {
	name := series[strings.LastIndexByte(series, '.')+1:]
	switch name {
	case "energy_j", "prompt_tokens", "generation_tokens", "prefix_queries", "prefix_hits", "preemptions":
		return true
	}
	return strings.HasSuffix(name, "_total") || strings.HasPrefix(name, "throttle_") && strings.HasSuffix(name, "_s")
}

// Unit gives a series' unit by its suffix, "" for a plain number: "gpu0.power_w" is in W.
func Unit(series string) string {
	for _, u := range []struct{ suffix, unit string }{
		{"_bytes_per_s", "B/s"}, {"_bytes", "B"}, {"_pct", "%"}, {"_mhz", "MHz"}, {"_gbps", "Gb/s"}, {"_gts", "GT/s"}, {"_ms", "ms"}, {"_w", "W"}, {"_c", "°C"}, {"_j", "J"}, {"_s", "s"},
	} {
		if strings.HasSuffix(series, u.suffix) {
			return u.unit
		}
	}
	return ""
}
