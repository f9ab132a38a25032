package probes

import (
	"context"
	"fmt"
	"strconv"
)

// amdSampler reads the driver's files: its sensors, its load and its memory; no tool is started.
type amdSampler struct {
	host    Host
	cards   []pciDevice
	numbers map[string]int
}

func (s *amdSampler) Name() string { return "amd" }

func (s *amdSampler) Sample(context.Context) ([]Sample, error) {
	out := newStamped()
	for _, c := range s.cards {
		g := amdGPU{h: s.host, dir: c.dir, pci: c}
		gpu := fmt.Sprintf("gpu%d.", s.numbers[c.address])
		hwmon := g.hwmon()
		metrics, _ := g.metrics()
		sensor := func(name string, parse func(string) (float64, error)) Fact[float64] {
			return convert(textFact(s.host, hwmon+"/"+name), parse)
		}
		out.addFact(gpu+"power_w", first(sensor("power1_input", wattsOf), sensor("power1_average", wattsOf), metrics.PowerW))
		out.addFact(gpu+"temp_c", first(sensor("temp2_input", scaled(1000)), sensor("temp1_input", scaled(1000)), metrics.HotspotC))
		out.addFact(gpu+"clock_mhz", first(sensor("freq1_input", scaled(1e6)), metrics.GfxMHz))
		out.addFact(gpu+"util_pct", first(convert(textFact(s.host, c.dir+"/gpu_busy_percent"), percent), metrics.GfxPct))
		out.addFact(gpu+"vram_used_bytes", convert(textFact(s.host, c.dir+"/mem_info_vram_used"), scaled(1)))
	}
	return out.list, nil
}

// scaled reads a whole number that is not negative in parts of a unit: 59000 m°C, 500000000 Hz.
func scaled(parts float64) func(string) (float64, error) {
	return func(s string) (float64, error) {
		v, err := strconv.ParseUint(s, 10, 63)
		if err != nil || v == 0xffffffff {
			return 0, errNoValue
		}
		return float64(v) / parts, nil
	}
}

func percent(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0 && v <= 100) {
		return 0, errNoValue
	}
	return v, nil
}

// nvidiaSampler starts nvidia-smi once per sample, bounded in time; with persistence on it takes about 0.1 s.
type nvidiaSampler struct {
	host    Host
	numbers map[string]int
}

func (s *nvidiaSampler) Name() string { return "nvidia" }

const sampleFields = "pci.bus_id,power.draw,temperature.gpu,utilization.gpu,clocks.sm,memory.used"

func (s *nvidiaSampler) Sample(ctx context.Context) ([]Sample, error) {
	log, err := runSMI(ctx, s.host, parseSMICSV, "nvidia-smi", "--query-gpu="+sampleFields, "--format=csv")
	if err != nil {
		return nil, fmt.Errorf("sample NVIDIA GPUs: %w", err)
	}
	out := newStamped() // after the tool's answer, which is what the values belong to
	for i, g := range log.all("gpu") {
		n, ok := s.numbers[busAddress(g)]
		if !ok {
			n = i
		}
		gpu := fmt.Sprintf("gpu%d.", n)
		get := func(where ...string) Fact[string] { return g.fact("nvidia-smi --query-gpu", where...) }
		out.addFact(gpu+"power_w", convert(get("power_draw"), smiNumber))
		out.addFact(gpu+"temp_c", convert(get("gpu_temp"), smiNumber))
		out.addFact(gpu+"util_pct", convert(get("gpu_util"), percentOfSMI))
		out.addFact(gpu+"clock_mhz", convert(get("sm_clock"), smiNumber))
		out.addFact(gpu+"vram_used_bytes", convert(get("fb_memory_usage/used"), usedMemory))
	}
	return out.list, nil
}

func percentOfSMI(s string) (float64, error) {
	v, err := smiNumber(s)
	if err != nil || v > 100 {
		return 0, errNoValue
	}
	return v, nil
}

// usedMemory reads MiB; none used is a value.
func usedMemory(s string) (float64, error) {
	v, err := smiNumber(s)
	return v * (1 << 20), err
}
