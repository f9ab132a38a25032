package gpu

import (
	"context"
	"fmt"
	"strconv"

	"assay/probes/host"
	"assay/probes/pci"
	"assay/probes/sut"
)

// AMDSampler reads the driver's files: its sensors, its load and its memory; no tool is started.
type AMDSampler struct {
	host    host.Host
	cards   []pci.Device
	numbers map[string]int
}

// Name is "amd".
func (s *AMDSampler) Name() string { return "amd" }

// Sample gives power_w, temp_c, clock_mhz, util_pct and vram_used_bytes of each GPU, as far as the driver tells them.
func (s *AMDSampler) Sample(context.Context) ([]sut.Sample, error) {
	out := sut.NewBatch()
	for _, c := range s.cards {
		g := amdGPU{h: s.host, dir: c.Dir, card: c}
		gpu := fmt.Sprintf("gpu%d.", s.numbers[c.Address])
		hwmon := g.hwmon()
		metrics, _ := g.metrics()
		sensor := func(name string, parse func(string) (float64, error)) sut.Fact[float64] {
			return sut.Convert(host.TextFact(s.host, hwmon+"/"+name), parse)
		}
		out.AddFact(gpu+"power_w", sut.First(sensor("power1_input", wattsOf), sensor("power1_average", wattsOf), metrics.PowerW))
		out.AddFact(gpu+"temp_c", sut.First(sensor("temp2_input", scaled(1000)), sensor("temp1_input", scaled(1000)), metrics.HotspotC))
		out.AddFact(gpu+"clock_mhz", sut.First(sensor("freq1_input", scaled(1e6)), metrics.GfxMHz))
		out.AddFact(gpu+"util_pct", sut.First(sut.Convert(host.TextFact(s.host, c.Dir+"/gpu_busy_percent"), percent), metrics.GfxPct))
		out.AddFact(gpu+"vram_used_bytes", sut.Convert(host.TextFact(s.host, c.Dir+"/mem_info_vram_used"), scaled(1)))
	}
	return out.List, nil
}

// scaled reads a whole number that is not negative in parts of a unit: 59000 m°C, 500000000 Hz.
func scaled(parts float64) func(string) (float64, error) {
	return func(s string) (float64, error) {
		v, err := strconv.ParseUint(s, 10, 63)
		if err != nil || v == 0xffffffff {
			return 0, sut.ErrNoValue
		}
		return float64(v) / parts, nil
	}
}

func percent(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0 && v <= 100) {
		return 0, sut.ErrNoValue
	}
	return v, nil
}

// NVIDIASampler starts nvidia-smi once per sample, bounded in time; with persistence on it takes about 0.1 s.
type NVIDIASampler struct {
	host    host.Host
	numbers map[string]int
}

// Name is "nvidia".
func (s *NVIDIASampler) Name() string { return "nvidia" }

const sampleFields = "pci.bus_id,power.draw,temperature.gpu,utilization.gpu,clocks.sm,memory.used"

// Sample gives the same series as the AMD sampler.
func (s *NVIDIASampler) Sample(ctx context.Context) ([]sut.Sample, error) {
	log, err := runSMI(ctx, s.host, parseSMICSV, "nvidia-smi", "--query-gpu="+sampleFields, "--format=csv")
	if err != nil {
		return nil, fmt.Errorf("sample NVIDIA GPUs: %w", err)
	}
	out := sut.NewBatch() // after the tool's answer, which is what the values belong to
	for i, g := range log.all("gpu") {
		n, ok := s.numbers[busAddress(g)]
		if !ok {
			n = i
		}
		gpu := fmt.Sprintf("gpu%d.", n)
		get := func(where ...string) sut.Fact[string] { return g.fact("nvidia-smi --query-gpu", where...) }
		out.AddFact(gpu+"power_w", sut.Convert(get("power_draw"), smiNumber))
		out.AddFact(gpu+"temp_c", sut.Convert(get("gpu_temp"), smiNumber))
		out.AddFact(gpu+"util_pct", sut.Convert(get("gpu_util"), percentOfSMI))
		out.AddFact(gpu+"clock_mhz", sut.Convert(get("sm_clock"), smiNumber))
		out.AddFact(gpu+"vram_used_bytes", sut.Convert(get("fb_memory_usage/used"), usedMemory))
	}
	return out.List, nil
}

func percentOfSMI(s string) (float64, error) {
	v, err := smiNumber(s)
	if err != nil || v > 100 {
		return 0, sut.ErrNoValue
	}
	return v, nil
}

// usedMemory reads MiB; none used is a value.
func usedMemory(s string) (float64, error) {
	v, err := smiNumber(s)
	return v * (1 << 20), err
}

// NewAMDSampler samples the AMD GPUs of a host; false when it has none.
func NewAMDSampler(h host.Host) (*AMDSampler, bool) {
	cards, _ := pci.Accelerators(h, amdVendor)
	return &AMDSampler{host: h, cards: cards, numbers: numbers(h)}, len(cards) > 0
}

// NewNVIDIASampler samples the NVIDIA GPUs of a host; false when it has none.
func NewNVIDIASampler(h host.Host) (*NVIDIASampler, bool) {
	cards, _ := pci.Accelerators(h, nvidiaVendor)
	return &NVIDIASampler{host: h, numbers: numbers(h)}, len(cards) > 0 || h.IsDir("/proc/driver/nvidia")
}

// numbers numbers the devices of both vendors in the order of their addresses, as the SUT lists them.
func numbers(h host.Host) map[string]int {
	var all []string
	for _, vendor := range []string{amdVendor, nvidiaVendor} {
		cards, _ := pci.Accelerators(h, vendor)
		for _, c := range cards {
			all = append(all, c.Address)
		}
	}
	byAddress := map[string]int{}
	for i, address := range host.Distinct(all) {
		byAddress[address] = i
	}
	return byAddress
}
