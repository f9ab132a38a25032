package plan

import (
	"strings"
	"testing"
)

// TestChecks: what a plan may say of checks; everything else is a fault of the plan, at its place.
func TestChecks(t *testing.T) {
	for value, want := range map[string]string{
		"swap: ignore": "", "idle: required": "", "gpu_count: 8": "", "gpu_count: [relaxed, 8]": "", "gpu_count: [8, required]": "", `gpu_count: "8"`: "", "gpu_count: 0": "",
		"power_cap: default": "", "power_cap: 650.5": "", "driver_equal: 535.183.01": "", "driver_equal: 535": "", "partition: CPX/NPS4": "", "partition: MIG": "",
		"thp: never": "", "iommu: DMA": "", "virtualization: docker": "", "virtualization: none": "", "host_load: 0.5": "", "disk_kind: nvme": "", "memory: relaxed": "",
		"swop: ignore":                     `there is no check "swop"; did you mean "swap"?`,
		"gpu_cuont: 8":                     `did you mean "gpu_count"?`,
		"frobnicate: 8":                    "known are gpu_count, ",
		"swap: banana":                     `checks.swap is "banana"; write required, relaxed or ignore; this check takes no value`,
		"swap: 5":                          "takes no value",
		"clock_sync: true":                 "checks.clock_sync is true; write required",
		"memory: -5":                       "checks.memory is -5; write required, relaxed or ignore, or the least GiB",
		"memory: .nan":                     "the least GiB",
		"gpu_count: 1.5":                   "a whole number",
		"gpu_count: -1":                    "a whole number",
		"gpu_count: many":                  "a whole number",
		"thp: []":                          "a list has one word and one value at most",
		"thp: [relaxed, required]":         "a list has one word and one value at most",
		"thp: [relaxed, never, always]":    "a list has one word and one value at most",
		"thp: sometimes":                   "always, madvise or never",
		"virtualization: Relaxed":          `did you mean "relaxed"?`,
		"ecc: REQUIRED":                    `did you mean "required"?`,
		"power_cap: 0":                     `"default" or watts`,
		"power_cap: most":                  `"default" or watts`,
		"partition: CPX/NPS":               "compute and memory mode",
		"host_load: 0":                     "the highest load for each CPU",
		"network_links: [ignore, ignore]":  "a list has one word and one value at most",
		"temperature: ninety":              "the highest °C",
		"disk_kind: 5":                     "a kind, such as nvme",
		"driver_equal: the newest":         "the version of the driver",
		"clocksource: [tsc, required]":     "",
		"container_runtime: [relaxed, on]": "takes no value",
	} {
		_, err := Parse([]byte(strings.Replace(minimal, "\n", "\nchecks: {"+value+"}\n", 1)))
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", value, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "line 2")):
			t.Errorf("%s: %v, not %q", value, err, want)
		}
	}
}
