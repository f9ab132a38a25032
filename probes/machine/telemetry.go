package machine

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

// HostSampler gives the share of busy CPU time since the last sample, and used memory.
type HostSampler struct {
	Host        host.Host
	busy, total float64
}

// Name is "host".
func (s *HostSampler) Name() string { return "host" }

// Sample gives host.cpu_pct (not the first time) and host.mem_used_bytes.
func (s *HostSampler) Sample(context.Context) ([]sut.Sample, error) {
	stat, err := s.Host.Text("/proc/stat")
	if err != nil {
		return nil, fmt.Errorf("sample CPU: %w", err)
	}
	meminfo, err := s.Host.Text("/proc/meminfo")
	if err != nil {
		return nil, fmt.Errorf("sample memory: %w", err)
	}
	out := sut.NewBatch()
	if busy, total, ok := parseCPUTimes(stat); ok {
		if s.total > 0 && total > s.total {
			out.Add("host.cpu_pct", 100*(busy-s.busy)/(total-s.total))
		}
		s.busy, s.total = busy, total
	}
	all, errAll := meminfoBytes(meminfo, "MemTotal")
	free, errFree := meminfoBytes(meminfo, "MemAvailable")
	if errAll == nil && errFree == nil {
		out.Add("host.mem_used_bytes", float64(all-free))
	}
	return out.List, nil
}

// parseCPUTimes reads the first line of /proc/stat: idle and iowait are not busy; guest time is already in user time.
func parseCPUTimes(stat string) (busy, total float64, ok bool) {
	line, _, _ := strings.Cut(stat, "\n")
	fields := strings.Fields(line)
	if len(fields) < 5 || fields[0] != "cpu" {
		return 0, 0, false
	}
	for i, f := range fields[1:min(len(fields), 9)] {
		v, err := strconv.ParseFloat(f, 64)
		if err != nil {
			return 0, 0, false
		}
		total += v
		if i != 3 && i != 4 {
			busy += v
		}
	}
	return busy, total, true
}

// ThroughputSampler gives bytes per second of all drives and all physical interfaces since the last sample.
type ThroughputSampler struct {
	Host   host.Host
	atUS   int64
	counts map[string]float64
}

// Name is "throughput".
func (s *ThroughputSampler) Name() string { return "throughput" }

// Sample gives host.disk_* and host.net_*, not the first time.
func (s *ThroughputSampler) Sample(context.Context) ([]sut.Sample, error) {
	out := sut.NewBatch()
	counts := map[string]float64{}
	if text, err := s.Host.Text("/proc/diskstats"); err == nil {
		counts["host.disk_read_bytes_per_s"], counts["host.disk_write_bytes_per_s"] = parseDiskstats(text, s.whole("/sys/block", "/device"))
	}
	if text, err := s.Host.Text("/proc/net/dev"); err == nil {
		counts["host.net_rx_bytes_per_s"], counts["host.net_tx_bytes_per_s"] = parseNetDev(text, s.whole("/sys/class/net", "/device"))
	}
	seconds := float64(out.AtUS-s.atUS) / 1e6
	for _, series := range []string{"host.disk_read_bytes_per_s", "host.disk_write_bytes_per_s", "host.net_rx_bytes_per_s", "host.net_tx_bytes_per_s"} {
		now, ok := counts[series]
		old, had := s.counts[series]
		if ok && had && seconds > 0 && now >= old { // a smaller count is a counter that started anew
			out.Add(series, (now-old)/seconds)
		}
	}
	s.atUS, s.counts = out.AtUS, counts
	return out.List, nil
}

// whole gives the names below dir that are devices of their own: no partitions, no bridges, nothing counted twice.
func (s *ThroughputSampler) whole(dir, marker string) map[string]bool {
	names := map[string]bool{}
	for _, dev := range s.Host.Match(dir, "*") {
		if s.Host.IsDir(dev + marker) {
			names[path.Base(dev)] = true
		}
	}
	return names
}

// parseDiskstats sums sectors read (field 6) and written (field 10), of 512 bytes.
func parseDiskstats(text string, drives map[string]bool) (read, written float64) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 10 || !drives[f[2]] {
			continue
		}
		r, errR := strconv.ParseFloat(f[5], 64)
		w, errW := strconv.ParseFloat(f[9], 64)
		if errR == nil && errW == nil {
			read, written = read+r*512, written+w*512
		}
	}
	return read, written
}

// parseNetDev sums bytes received (first column) and sent (ninth).
func parseNetDev(text string, interfaces map[string]bool) (received, sent float64) {
	for line := range strings.Lines(text) {
		name, rest, ok := strings.Cut(line, ":")
		f := strings.Fields(rest)
		if !ok || len(f) < 9 || !interfaces[strings.TrimSpace(name)] {
			continue
		}
		r, errR := strconv.ParseFloat(f[0], 64)
		t, errT := strconv.ParseFloat(f[8], 64)
		if errR == nil && errT == nil {
			received, sent = received+r, sent+t
		}
	}
	return received, sent
}
