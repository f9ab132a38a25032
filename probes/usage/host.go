package usage

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

// fewTicks is the CPU time, of all CPUs, below which a share tells of nothing but the grain of the kernel's count.
const fewTicks = 10

// Host gives the shares of busy CPU time since the last sample, and used memory.
type Host struct {
	host   host.Host
	before ticks
}

// NewHost samples the CPUs and the memory of a host.
func NewHost(h host.Host) *Host { return &Host{host: h} }

// Name is "host".
func (s *Host) Name() string { return "host" }

// Sample gives host.cpu_pct and host.iowait_pct, not the first time, host.mem_used_bytes and host.swap_used_bytes.
func (s *Host) Sample(context.Context) ([]sut.Sample, error) {
	stat, err := s.host.Text("/proc/stat")
	if err != nil {
		return nil, fmt.Errorf("sample CPU: %w", err)
	}
	meminfo, err := s.host.Text("/proc/meminfo")
	if err != nil {
		return nil, fmt.Errorf("sample memory: %w", err)
	}
	out := sut.NewBatch()
	if now, ok := parseTicks(stat); ok {
		total := now.total - s.before.total
		if s.before.total > 0 && total >= fewTicks {
			out.Add("host.cpu_pct", 100*(now.busy-s.before.busy)/total)
			out.Add("host.iowait_pct", 100*max(now.iowait-s.before.iowait, 0)/total) // the kernel lets it go back now and then
		}
		if s.before.total == 0 || total < 0 || total >= fewTicks {
			s.before = now
		}
	}
	size := host.KeyValues(meminfo, ":")
	for _, m := range []struct{ series, all, free string }{
		{"host.mem_used_bytes", "MemTotal", "MemAvailable"}, {"host.swap_used_bytes", "SwapTotal", "SwapFree"},
	} {
		all, known := kibibytes(size[m.all])
		free, both := kibibytes(size[m.free])
		if known && both && all >= free {
			out.Add(m.series, all-free)
		}
	}
	return out.List, nil
}

// ticks is CPU time since boot.
type ticks struct{ busy, iowait, total float64 }

// parseTicks reads the first line of /proc/stat: idle and iowait are not busy; guest time is already in user time.
func parseTicks(stat string) (t ticks, ok bool) {
	line, _, _ := strings.Cut(stat, "\n")
	fields := strings.Fields(line)
	if len(fields) < 5 || fields[0] != "cpu" {
		return ticks{}, false
	}
	for i, f := range fields[1:min(len(fields), 9)] {
		v, err := strconv.ParseUint(f, 10, 64)
		if err != nil {
			return ticks{}, false
		}
		t.total += float64(v)
		switch i {
		case 3: // idle
		case 4:
			t.iowait = float64(v)
		default:
			t.busy += float64(v)
		}
	}
	return t, true
}

// kibibytes reads "1048576 kB", in bytes.
func kibibytes(s string) (float64, bool) {
	n, ok := strings.CutSuffix(s, " kB")
	v, err := strconv.ParseUint(n, 10, 54)
	return float64(v) * 1024, ok && err == nil
}
