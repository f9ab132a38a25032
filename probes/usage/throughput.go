package usage

import (
	"context"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

// Throughput gives bytes per second of every drive and every physical interface since the last sample, and of all together.
type Throughput struct {
	host     host.Host
	meter    meter
	physical map[string]bool // folder of a device → whether it is one: no partition, no bridge, nothing counted twice
	plain    func(string) string
}

// NewThroughput samples the drives and the network interfaces of a host.
func NewThroughput(h host.Host) *Throughput {
	cut := host.WithoutIDs() // an interface can be named after its MAC address
	return &Throughput{host: h, physical: map[string]bool{}, plain: func(name string) string { return plainName(cut(name)) }}
}

// Name is "throughput".
func (s *Throughput) Name() string { return "throughput" }

// Sample gives host.disk_* and host.net_*, disk.<name>.* and nic.<name>.*, not the first time.
func (s *Throughput) Sample(context.Context) ([]sut.Sample, error) {
	out := sut.NewBatch()
	counts := map[string]float64{}
	if text, err := s.host.Text("/proc/diskstats"); err == nil {
		s.drives(text, counts)
	}
	if text, err := s.host.Text("/proc/net/dev"); err == nil {
		s.interfaces(text, counts)
	}
	s.meter.rates(counts, out)
	return out.List, nil
}

// drives adds sectors read (field 6) and written (field 10), of 512 bytes, and the time something was under way (field 13), ms.
func (s *Throughput) drives(text string, counts map[string]float64) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 13 || !s.isDevice("/sys/block/"+f[2]) {
			continue
		}
		read, errR := strconv.ParseUint(f[5], 10, 64)
		written, errW := strconv.ParseUint(f[9], 10, 64)
		busy, errB := strconv.ParseUint(f[12], 10, 64)
		if errR != nil || errW != nil || errB != nil {
			continue
		}
		drive := "disk." + s.plain(f[2]) + "."
		counts[drive+"read_bytes_per_s"] += float64(read) * 512
		counts[drive+"write_bytes_per_s"] += float64(written) * 512
		counts[drive+"busy_pct"] += float64(busy) / 10
		counts["host.disk_read_bytes_per_s"] += float64(read) * 512
		counts["host.disk_write_bytes_per_s"] += float64(written) * 512
	}
}

// interfaces adds bytes received (first column) and sent (ninth).
func (s *Throughput) interfaces(text string, counts map[string]float64) {
	for line := range strings.Lines(text) {
		name, rest, ok := strings.Cut(line, ":")
		name = strings.TrimSpace(name)
		f := strings.Fields(rest)
		if !ok || len(f) < 9 || !s.isDevice("/sys/class/net/"+name) {
			continue
		}
		received, errR := strconv.ParseUint(f[0], 10, 64)
		sent, errT := strconv.ParseUint(f[8], 10, 64)
		if errR != nil || errT != nil {
			continue
		}
		nic := "nic." + s.plain(name) + "."
		counts[nic+"rx_bytes_per_s"] += float64(received)
		counts[nic+"tx_bytes_per_s"] += float64(sent)
		counts["host.net_rx_bytes_per_s"] += float64(received)
		counts["host.net_tx_bytes_per_s"] += float64(sent)
	}
}

// isDevice tells whether something of the kernel's lists is a device of its own; it is looked up once.
func (s *Throughput) isDevice(folder string) bool {
	is, known := s.physical[folder]
	if !known {
		is = s.host.IsDir(folder + "/device")
		s.physical[folder] = is
	}
	return is
}

// plainName keeps what may stand between the dots of a series' name.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, name)
}
