package probes

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"strings"
	"testing"
)

const seriesPage = "../docs/telemetry.md"

const seriesIntro = `<!-- Made from probes/series.go: go test ./probes -run TestSeriesPage -update -->
# Telemetry

While a run's points are measured, every source of the machine and the engine's own metrics are sampled each ` + "`telemetry.interval`" + ` of the plan, 1 s unless it says
otherwise ([plan.md](plan.md#telemetry)); above 3 s the samples tell nothing of the time between them, and only counters give an energy. In a matrix the engine is sampled at least each second. Each source has a loop of its own: one that does not answer within two intervals is
cut off, noted in the result, and asked again when it is back; it delays no other, and no request. Every source is asked once more just before and just after a point's load. Then a program that goes on reporting has up to 1.5 s
for its next report, and up to 5 s from the start of sampling for its first, so that a short window has an energy too.
A program that goes on reporting, as nvidia-smi does each second, has 30 s for its first report and 5 s for each later one; one that is silent when a run ends is noted, too.

All samples go to ` + "`telemetry.jsonl`" + ` of the run, one a line: ` + "`{\"t\": µs UTC, \"s\": series, \"v\": value}`" + `, in the order they came. What stands in the result is made of them
([result.md](result.md#a-point)), energy too ([metrics.md](metrics.md#energy)). A series that a machine does not tell is not there; a value that cannot be is left out.

What it costs is measured in [performance.md](performance.md#telemetry).

## Series

N is the number of the device, of GPUs their place in the SUT's list of accelerators, of servers that in ` + "`server.urls`" + ` or of the replica, from 0. A counter only grows, until what counts begins anew; its value means nothing, its growth does.

| series | unit | is | source |
|---|---|---|---|
`

const seriesOutro = `
The engine's series are ` + "`engine.running`, `engine.waiting`, `engine.kv_usage` (a share), and the counters `engine.prompt_tokens`, `engine.generation_tokens`, `engine.prefix_queries`,\n`engine.prefix_hits`, `engine.preemptions`" + `; what each engine calls them stands in [engines.md](engines.md#metrics).
`

// TestSeriesPage: docs/telemetry.md is what the table says.
func TestSeriesPage(t *testing.T) {
	var page bytes.Buffer
	page.WriteString(seriesIntro)
	for _, s := range SeriesTable() {
		unit := cmp.Or(Unit(s.Name), "–")
		if IsCounter(s.Name) {
			unit = strings.TrimPrefix(unit+", counter", "–, ")
		}
		fmt.Fprintf(&page, "| `%s` | %s | %s | %s |\n", s.Name, unit, s.Text, s.Source)
	}
	page.WriteString(seriesOutro)
	if *update {
		if err := os.WriteFile(seriesPage, page.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(seriesPage); err != nil || !bytes.Equal(got, page.Bytes()) {
		t.Errorf("%s is not what the table says (-update writes it anew): %v", seriesPage, err)
	}
}

// described fails for a series that stands in no line of the table, or in two.
func described(t *testing.T, series string) {
	t.Helper()
	n := 0
	for _, s := range SeriesTable() {
		if s.Is(series) {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%s stands in %d lines of SeriesTable", series, n)
	}
}

func TestSeriesIs(t *testing.T) {
	for name, want := range map[string]string{
		"gpu12.power_w": "gpuN.power_w", "gpu.power_w": "", "gpu1x.power_w": "", "gpu0.throttle_vr_thermal_pct": "gpuN.throttle_REASON_pct", "gpu0.throttle_pct": "gpuN.throttle_pct",
		"disk.nvme0n1.busy_pct": "disk.NAME.busy_pct", "disk..busy_pct": "", "nic.enp1s0f0.rx_bytes_per_s": "nic.NAME.rx_bytes_per_s", "host.cpu_pct.x": "", "cpu0.energy_j": "cpuN.energy_j",
	} {
		got := ""
		for _, s := range SeriesTable() {
			if s.Is(name) {
				got += s.Name
			}
		}
		if got != want {
			t.Errorf("%s is %q, not %q", name, got, want)
		}
	}
}
