package gpu

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/probes/host"
)

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestGFXName(t *testing.T) {
	for in, want := range map[string]string{
		"90402": "gfx942", "90500": "gfx950", "90010": "gfx90a", "120500": "gfx1250", "110501": "gfx1151", "90008": "gfx908", "0": "", "": "", "-1": "", "x": "", "4294967295": "",
	} {
		if got, err := gfxName(in); got != want || (err == nil) != (want != "") {
			t.Errorf("gfxName(%q) is %q, %v", in, got, err)
		}
	}
}

// realMetrics is the file of a Radeon RX 6900 XT.
func realMetrics(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("../testdata/hosts/sysfs-rx6900xt/sys/class/drm/card0/device/gpu_metrics")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestGPUMetrics(t *testing.T) {
	m, err := parseGPUMetrics(realMetrics(t))
	if err != nil {
		t.Fatal(err)
	}
	if m.Version != "1.3" || m.PowerW.Value != 36 || m.GfxPct.Value != 3 || m.HotspotC.Value != 59 || m.LinkWidth.Value != 16 || m.LinkGTS.Value != 16 {
		t.Errorf("%+v", m)
	}
	if j := m.EnergyJ.Value; math.Abs(j-17691682*15.259e-6) > 0.01 {
		t.Errorf("energy %g J", j)
	}
	if len(m.ThrottledBy.Items) != 0 || m.ThrottledBy.Unknown != "" {
		t.Errorf("throttled by %+v", m.ThrottledBy)
	}
}

// TestGPUMetricsLayouts fills every version with its own numbers, and with all ones.
func TestGPUMetricsLayouts(t *testing.T) {
	for content, at := range metricsLayouts() {
		b := make([]byte, at.size)
		binary.LittleEndian.PutUint16(b, uint16(at.size))
		b[2], b[3] = 1, content
		binary.LittleEndian.PutUint16(b[at.power:], 750)
		binary.LittleEndian.PutUint16(b[at.hotspot:], 61)
		binary.LittleEndian.PutUint16(b[at.speed:], 320)
		binary.LittleEndian.PutUint16(b[at.width:], 16)
		m, err := parseGPUMetrics(b)
		if err != nil || m.PowerW.Value != 750 || m.HotspotC.Value != 61 || m.LinkGTS.Value != 32 || m.LinkWidth.Value != 16 || m.EnergyJ.IsKnown() {
			t.Errorf("1.%d: %+v %v", content, m, err)
		}
		for i := 4; i < len(b); i++ {
			b[i] = 0xff
		}
		m, err = parseGPUMetrics(b)
		if err != nil || m.PowerW.IsKnown() || m.HotspotC.IsKnown() || m.GfxPct.IsKnown() || m.LinkGTS.IsKnown() || m.LinkWidth.IsKnown() || m.EnergyJ.IsKnown() || m.ThrottledBy.Unknown == "" {
			t.Errorf("1.%d of all ones: %+v %v", content, m, err)
		}
		if _, err := parseGPUMetrics(b[:at.size-1]); err == nil {
			t.Errorf("1.%d cut off was read", content)
		}
	}
}

func FuzzGPUMetrics(f *testing.F) {
	f.Add(realMetrics(f))
	f.Add([]byte{4, 0, 1, 3})
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := parseGPUMetrics(b)
		if err == nil && m.PowerW.IsKnown() && m.PowerW.Value >= 65535 {
			t.Errorf("%+v", m)
		}
	})
}

// TestNoInventedLimits reads limits as broken drivers give them.
func TestNoInventedLimits(t *testing.T) {
	dir := t.TempDir()
	h := host.Host{Root: dir}
	for text, want := range map[string]float64{"300000000": 300, "0": -1, "18446744073709551615": -1, "4294967295000000": -1, "N/A": -1, "": -1, "-5": -1} {
		put(t, filepath.Join(dir, "power1_cap"), text)
		f := watts(h, "", "power1_cap", true)
		if v, ok := f.Get(); ok != (want >= 0) || (ok && v != want) || (!ok && f.Unknown == "") {
			t.Errorf("%q gives %+v", text, f)
		}
	}
	if f := watts(h, "", "absent", true); f.IsKnown() || !strings.Contains(f.Unknown, "absent") {
		t.Errorf("%+v", f)
	}
}

func FuzzKFDNode(f *testing.F) {
	f.Add("simd_count 1216\nsimd_per_cu 4\ngfx_target_version 90402\nlocation_id 6912\ndomain 0\nunique_id 18446744073709551615\n")
	f.Fuzz(func(t *testing.T, text string) {
		n, ok := parseKFDNode("1", text)
		if !ok {
			return
		}
		g := kfdGPU{address: n.address, nodes: []kfdNode{n}}
		if cu := g.computeUnits(1); cu.IsKnown() && cu.Value < 0 {
			t.Errorf("%d compute units", cu.Value)
		}
		_, _ = gfxName(n.props["gfx_target_version"])
	})
}

// hostWithout is a host that has no files and runs nothing.
func hostWithout() host.Host { return host.Host{Root: "/nonexistent"} }
