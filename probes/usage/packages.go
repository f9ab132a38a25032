package usage

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

// Packages gives the energy that the processor packages and their memory count, and the power that follows from it. The kernel shows it
// to root alone.
type Packages struct {
	host  host.Host
	zones []zone
	meter meter
}

// zone is one counter of energy; it begins again at zero when it reaches its range.
type zone struct {
	dir    string
	device string  // "cpu0"
	rangeJ float64 // 0: not known
	raw    float64 // J at the last reading
	turned float64 // J of the rounds it has made
	read   bool
}

// NewPackages samples the packages of a host; false when it counts none.
func NewPackages(h host.Host) (*Packages, bool) {
	s := &Packages{host: h}
	for _, dir := range h.Match("/sys/class/powercap", "intel-rapl:*") { // AMD's processors stand there too
		if device, ok := deviceOf(h, dir); ok {
			limit, _ := s.joules(dir + "/max_energy_range_uj")
			s.zones = append(s.zones, zone{dir: dir, device: device, rangeJ: limit})
		}
	}
	return s, len(s.zones) > 0
}

// deviceOf names what a zone counts for: "cpu0" for a package and each of its dies, "dram0" for its memory; false for another part of a
// package, and for the whole platform.
func deviceOf(h host.Host, dir string) (string, bool) {
	kind := "cpu"
	name, _ := h.Text(dir + "/name")
	if name == "dram" {
		kind = "dram"
		name, _ = h.Text(dir[:strings.LastIndexByte(dir, ':')] + "/name")
	}
	number, ok := strings.CutPrefix(name, "package-")
	number, _, _ = strings.Cut(number, "-die-")
	return kind + number, ok
}

// Name is "packages".
func (s *Packages) Name() string { return "packages" }

// Sample gives cpuN.energy_j and dramN.energy_j, and power_w of both, not the first time.
func (s *Packages) Sample(context.Context) ([]sut.Sample, error) {
	out := sut.NewBatch()
	sums, counts := map[string]float64{}, map[string]float64{}
	for i := range s.zones {
		z := &s.zones[i]
		raw, err := s.joules(z.dir + "/energy_uj")
		if err != nil {
			return nil, fmt.Errorf("sample the energy of processors: %w", err)
		}
		sums[z.device] += z.total(raw)
	}
	for _, device := range slices.Sorted(maps.Keys(sums)) {
		out.Add(device+".energy_j", sums[device])
		counts[device+".power_w"] = sums[device]
	}
	s.meter.rates(counts, out)
	return out.List, nil
}

// total is the energy with all rounds of the counter. One that fell by less than half its range, or has none that is known, began anew.
func (z *zone) total(raw float64) float64 {
	if z.read && z.raw-raw > z.rangeJ/2 {
		z.turned += z.rangeJ
	}
	z.raw, z.read = raw, true
	return z.turned + raw
}

func (s *Packages) joules(name string) (float64, error) {
	text, err := s.host.Text(name)
	if err != nil {
		return 0, err
	}
	uj, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s holds no number", name)
	}
	return float64(uj) / 1e6, nil
}
