package nvidia

import (
	"context"
	"slices"
	"strings"

	"assay/probes/host"
)

// askFields gives those of the wanted fields that this driver knows: one that it does not know fails the whole query. When it does not say
// what it knows, the usual fields are taken.
func askFields(ctx context.Context, h host.Host, wanted, usual []string) []string {
	known := parseFields(answer(ctx, h, "nvidia-smi", "--help-query-gpu"))
	if len(known) == 0 {
		return usual
	}
	return slices.DeleteFunc(wanted, func(f string) bool { return !slices.Contains(known, f) })
}

// coreSamples are fields that every driver knows.
func coreSamples() []string {
	return []string{"pci.bus_id", "power.draw", "temperature.gpu", "utilization.gpu", "utilization.memory", "clocks.sm", "clocks.mem", "memory.used"}
}

// wantedSamples are the address and all fields that give a series, each once.
func wantedSamples() []string {
	fields := []string{"pci.bus_id"}
	for _, s := range allSeries() {
		fields = append(fields, s.fields...)
	}
	for _, r := range heldBack() {
		fields = append(fields, counterGroup+r.query, "clocks_event_reasons."+r.query, "clocks_throttle_reasons."+r.query)
	}
	return fields
}

// parseFields gives the names of `nvidia-smi --help-query-gpu`, whose lines are `"name" or "other name"`, of which the first is taken.
func parseFields(text string) []string {
	var names []string
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), `"`)
		name, _, closed := strings.Cut(rest, `"`)
		if ok && closed && name != "" && !strings.ContainsAny(name, " ,=") {
			names = append(names, name)
		}
	}
	return names
}
