package gpu

import (
	"encoding/binary"
	"fmt"
	"math"

	"assay/probes/pci"
	"assay/probes/sut"
)

// gpuMetrics is what is read of amdgpu's binary gpu_metrics file (struct gpu_metrics_v1_x of the kernel's kgd_pp_interface.h).
// A fact that the chip does not report is unknown.
type gpuMetrics struct {
	Version     string
	HotspotC    sut.Fact[float64]
	PowerW      sut.Fact[float64] // of the socket; an average up to 1.3, current from 1.4 on
	GfxPct      sut.Fact[float64]
	GfxMHz      sut.Fact[float64]
	EnergyJ     sut.Fact[float64] // since the driver was loaded
	LinkWidth   sut.Fact[int]
	LinkGTS     sut.Fact[float64]
	ThrottledBy sut.List[string]
}

// metricsLayout is where the fields of one version stand; 0 where it has none.
type metricsLayout struct{ size, hotspot, power, gfx, energy, clock, width, speed, throttle int }

func metricsLayouts() map[byte]metricsLayout {
	return map[byte]metricsLayout{
		3: {120, 6, 22, 16, 24, 54, 74, 76, 112},
		4: {288, 4, 10, 12, 24, 240, 48, 50, 0},
		5: {360, 4, 10, 12, 88, 312, 112, 114, 0},
		6: {1664, 4, 10, 12, 16, 264, 60, 62, 0},
		7: {2208, 4, 10, 12, 24, 296, 68, 70, 0},
		8: {3872, 4, 10, 12, 24, 296, 68, 70, 0},
	}
}

// parseGPUMetrics reads versions 1.3 to 1.8; a size that is not the version's is refused rather than read askew.
func parseGPUMetrics(b []byte) (gpuMetrics, error) {
	if len(b) < 4 {
		return gpuMetrics{}, fmt.Errorf("gpu_metrics holds %d bytes", len(b))
	}
	size, format, content := int(binary.LittleEndian.Uint16(b)), b[2], b[3]
	at, ok := metricsLayouts()[content]
	if format != 1 || !ok {
		return gpuMetrics{}, fmt.Errorf("gpu_metrics version %d.%d is not known", format, content)
	}
	if size != at.size || len(b) < size {
		return gpuMetrics{}, fmt.Errorf("gpu_metrics 1.%d says %d of its %d bytes and holds %d", content, size, at.size, len(b))
	}
	m := gpuMetrics{
		Version:  fmt.Sprintf("1.%d", content),
		HotspotC: word(b, at.hotspot, 1), PowerW: word(b, at.power, 1), GfxPct: word(b, at.gfx, 1), GfxMHz: word(b, at.clock, 1),
		LinkGTS: word(b, at.speed, 0.1), EnergyJ: energy(b, at.energy), ThrottledBy: throttledBy(b, at.throttle),
	}
	m.LinkWidth = sut.Convert(word(b, at.width, 1), func(w float64) (int, error) { return pci.Width(int(w)) })
	m.LinkGTS = sut.Convert(m.LinkGTS, func(g float64) (float64, error) {
		if g <= 0 {
			return 0, sut.ErrNoValue
		}
		return g, nil
	})
	return m, nil
}

// word reads two bytes; all ones mean that the chip does not report it.
func word(b []byte, at int, unit float64) sut.Fact[float64] {
	v := binary.LittleEndian.Uint16(b[at:])
	if v == math.MaxUint16 {
		return sut.Unknown[float64]("gpu_metrics does not report it")
	}
	return sut.Known(math.Round(float64(v)*unit*10)/10, "gpu_metrics")
}

// energy reads the counter of 2^-16 J steps; 0 is what chips without the counter say.
func energy(b []byte, at int) sut.Fact[float64] {
	v := binary.LittleEndian.Uint64(b[at:])
	if v == 0 || v == math.MaxUint64 {
		return sut.Unknown[float64]("gpu_metrics does not report it")
	}
	return sut.Known(float64(v)/65536, "gpu_metrics")
}

// throttledBy names why clocks are held down, from the chip-independent bits.
func throttledBy(b []byte, at int) sut.List[string] {
	if at == 0 {
		return sut.List[string]{Unknown: "this version of gpu_metrics counts throttling instead of stating it"}
	}
	bits := binary.LittleEndian.Uint64(b[at:])
	if bits == math.MaxUint64 {
		return sut.List[string]{Unknown: "gpu_metrics does not report it"}
	}
	list := sut.List[string]{Items: []string{}}
	for _, group := range []struct {
		name string
		mask uint64
	}{{"power", 0xff}, {"current", 0xff << 16}, {"thermal", 0xffff << 32}, {"other", 0xff << 56}} {
		if bits&group.mask != 0 {
			list.Items = append(list.Items, group.name)
		}
	}
	return list
}
