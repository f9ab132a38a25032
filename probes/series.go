package probes

import (
	"slices"
	"strings"
)

// Series is a kind of series of telemetry. In its name N stands for a number and a word in capitals for a name.
type Series struct {
	Name   string // "gpuN.power_w", "disk.NAME.busy_pct"
	Text   string
	Source string
}

// SeriesTable is every kind of series that the samplers give, in the order of the page that documents them.
func SeriesTable() []Series {
	return slices.Concat(gpuSeries(), hostSeries(), serverSeries())
}

func gpuSeries() []Series {
	return []Series{
		{"gpuN.power_w", "what the package or the board draws", "AMD: metrics table, or hwmon `power1_input`, `power1_average`; NVIDIA: `power.draw.instant`, or `power.draw`, a mean of 1 s"},
		{"gpuN.energy_j", "energy since the driver was loaded", "AMD: counter of the metrics table; NVIDIA: none without NVML"},
		{"gpuN.temp_c", "temperature of the hottest spot", "AMD: metrics table, hwmon; NVIDIA: `temperature.gpu`"},
		{"gpuN.mem_temp_c", "temperature of the memory", "AMD: metrics table, hwmon; NVIDIA: `temperature.memory`"},
		{"gpuN.clock_mhz", "clock of the compute units, of several dies the mean", "AMD: metrics table, hwmon; NVIDIA: `clocks.sm`"},
		{"gpuN.clock_min_mhz", "that of the slowest die", "AMD: metrics table"},
		{"gpuN.mem_clock_mhz", "clock of the memory", "AMD: metrics table, hwmon; NVIDIA: `clocks.mem`"},
		{"gpuN.util_pct", "share of the time in which anything ran", "AMD: growth of the activity counter, or `gpu_busy_percent`; NVIDIA: `utilization.gpu`"},
		{"gpuN.mem_util_pct", "share of the time in which the memory was read or written", "AMD: growth of the activity counter, or `mem_busy_percent`; NVIDIA: `utilization.memory`"},
		{"gpuN.vram_used_bytes", "memory in use", "AMD: `mem_info_vram_used`; NVIDIA: `memory.used`"},
		{"gpuN.throttle_pct", "share of the time in which clocks were held down, by the reason that did it most", "AMD: counters of the metrics table, or its state now; NVIDIA: as below"},
		{"gpuN.throttle_REASON_pct", "the same of one reason: `power` is usual at full load, `thermal` and `prochot` are not", "AMD: as above; NVIDIA: growth of the counters, without them `clocks_event_reasons.*`, 0 or 100"},
		{"gpuN.throttle_REASON_s", "time in which clocks were held down for one reason", "NVIDIA: `clocks_event_reasons_counters.*`"},
		{"gpuN.pcie_gbps", "traffic over PCIe in both directions, Gb/s", "AMD: metrics table"},
		{"gpuN.pcie_gts", "speed of the link now; low when idle, on some", "NVIDIA: `pcie.link.gen.current`"},
		{"gpuN.pcie_width", "lanes of the link now", "NVIDIA: `pcie.link.width.current`"},
		{"gpuN.pcie_replays_total", "packets that had to be sent again", "AMD: metrics table, or `pcie_replay_count`; NVIDIA: none, its count stands in the SUT"},
	}
}

func hostSeries() []Series {
	return []Series{
		{"host.cpu_pct", "busy time of all CPUs", "`/proc/stat`"},
		{"host.iowait_pct", "idle time of all CPUs with a drive's answer outstanding", "`/proc/stat`"},
		{"host.mem_used_bytes", "memory that is not available", "`/proc/meminfo`: MemTotal − MemAvailable"},
		{"host.swap_used_bytes", "swap in use", "`/proc/meminfo`"},
		{"host.disk_read_bytes_per_s", "read from all drives", "`/proc/diskstats`, without partitions, LVM and RAID"},
		{"host.disk_write_bytes_per_s", "written to all drives", "as above"},
		{"host.net_rx_bytes_per_s", "received over all physical interfaces; none from the machine itself", "`/proc/net/dev`"},
		{"host.net_tx_bytes_per_s", "sent over them", "as above"},
		{"host.wall_w", "what the whole machine draws", "hwmon `power_meter`, when there is one of them"},
		{"cpuN.power_w", "what a processor package draws", "growth of its energy"},
		{"cpuN.energy_j", "energy of a package, over the end of its counter's range", "`/sys/class/powercap/intel-rapl:*` (AMD's too), root only"},
		{"cpuN.temp_c", "temperature of a package", "hwmon `coretemp`, `k10temp`"},
		{"dramN.power_w", "what the memory of a package draws", "growth of its energy"},
		{"dramN.energy_j", "energy of the memory of a package", "as of packages; few processors count it"},
		{"disk.NAME.read_bytes_per_s", "read from one drive", "`/proc/diskstats`"},
		{"disk.NAME.write_bytes_per_s", "written to it", "as above"},
		{"disk.NAME.busy_pct", "share of the time in which it had anything to do", "as above"},
		{"nic.NAME.rx_bytes_per_s", "received over one interface", "`/proc/net/dev`"},
		{"nic.NAME.tx_bytes_per_s", "sent over it", "as above"},
	}
}

func serverSeries() []Series {
	const own = "its own metrics"
	return []Series{
		{"serverN.running", "requests that one of several servers runs; `engine.running` is the sum", own},
		{"serverN.waiting", "requests that wait in it", own},
		{"serverN.kv_usage", "share of its KV cache in use; `engine.kv_usage` is the mean", own},
		{"serverN.prompt_tokens", "prompt tokens that it took in", own},
		{"serverN.generation_tokens", "tokens that it made", own},
		{"serverN.prefix_queries", "prompt tokens that it looked up in its cache of prefixes", own},
		{"serverN.prefix_hits", "those that it found there", own},
		{"serverN.preemptions", "requests that it put back", own},
	}
}

// Is tells whether a series is of this kind.
func (s Series) Is(series string) bool {
	want, got := strings.Split(s.Name, "."), strings.Split(series, ".")
	if len(want) != len(got) {
		return false
	}
	for i, w := range want {
		if !fits(w, got[i]) {
			return false
		}
	}
	return true
}

// fits holds a part of a name against its pattern: "gpuN", "NAME", "throttle_REASON_pct".
func fits(pattern, part string) bool {
	if device, numbered := strings.CutSuffix(pattern, "N"); numbered {
		number, ok := strings.CutPrefix(part, device)
		return ok && number != "" && strings.Trim(number, "0123456789") == ""
	}
	for _, word := range []string{"NAME", "REASON"} {
		before, after, has := strings.Cut(pattern, word)
		if has {
			return len(part) > len(before)+len(after) && strings.HasPrefix(part, before) && strings.HasSuffix(part, after)
		}
	}
	return pattern == part
}
