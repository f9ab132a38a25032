package usage

import (
	"context"
	"regexp"
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
	path     *regexp.Regexp // a hidden path to the namespace of a multipath NVMe drive
}

// NewThroughput samples the drives and the network interfaces of a host.
func NewThroughput(h host.Host) *Throughput {
	cut := host.WithoutIDs() // an interface can be named after its MAC address
	return &Throughput{host: h, physical: map[string]bool{}, plain: func(name string) string { return plainName(cut(name)) }, path: regexp.MustCompile(`^(nvme\d+)c\d+(n\d+)$`)}
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

// drives adds sectors read (field 6) and written (field 10), of 512 bytes, and the time something was under way (field 13), ms. Some kernels
// count what goes to a multipath NVMe drive at its paths alone, others at the drive too.
func (s *Throughput) drives(text string, counts map[string]float64) {
	drives, paths := map[string]work{}, map[string]work{}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		w, ok := parseWork(f)
		switch {
		case !ok:
		case s.path.MatchString(f[2]):
			drive := s.path.ReplaceAllString(f[2], "$1$2")
			paths[drive] = paths[drive].and(w)
		case s.isDevice("/sys/block/" + f[2]):
			drives[f[2]] = w
		}
	}
	for name, w := range drives {
		w, drive := w.most(paths[name]), "disk."+s.plain(name)+"."
		counts[drive+"read_bytes_per_s"] += w.read
		counts[drive+"write_bytes_per_s"] += w.written
		counts[drive+"busy_pct"] += w.busy
		counts["host.disk_read_bytes_per_s"] += w.read
		counts["host.disk_write_bytes_per_s"] += w.written
	}
}

// work is what a drive did since the boot: bytes, and hundredths of seconds in which anything was under way.
type work struct{ read, written, busy float64 }

// parseWork reads the fields of a line of /proc/diskstats.
func parseWork(f []string) (work, bool) {
	if len(f) < 13 {
		return work{}, false
	}
	read, errR := strconv.ParseUint(f[5], 10, 64)
	written, errW := strconv.ParseUint(f[9], 10, 64)
	busy, errB := strconv.ParseUint(f[12], 10, 64)
	return work{float64(read) * 512, float64(written) * 512, float64(busy) / 10}, errR == nil && errW == nil && errB == nil
}

// and is the work of two paths together; both may be busy at one time.
func (w work) and(o work) work {
	return work{w.read + o.read, w.written + o.written, max(w.busy, o.busy)}
}

// most is what one of two counts of the same work saw.
func (w work) most(o work) work {
	return work{max(w.read, o.read), max(w.written, o.written), max(w.busy, o.busy)}
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
