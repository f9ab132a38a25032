package amd

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/probes/sut"
)

// at is a value and where the kernel's header puts it.
type at struct {
	offset, bytes int
	value         uint64
}

// table makes a table as the driver does: all ones, then what the chip reports.
func table(version string, size int, values ...at) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = 0xff
	}
	binary.LittleEndian.PutUint16(b, uint16(size))
	b[2], b[3] = version[0]-'0', version[2]-'0'
	for _, v := range values {
		for i := range v.bytes {
			b[v.offset+i] = byte(v.value >> (8 * i))
		}
	}
	return b
}

// said is what a table gives, with -1 for unknown.
type said struct {
	edge, hotspot, memory, power, gfx, energy, clock, slowest, memClock float64
	gts                                                                 float64
	width                                                               int
	replays, naks, recoveries                                           int64
	up, down                                                            int
	gbps                                                                float64
	throttle                                                            string
	counters                                                            string
}

func orMinus[T int | int64 | float64](f sut.Fact[T]) T {
	if v, ok := f.Get(); ok {
		return v
	}
	return -1
}

func says(t metricsTable) said {
	mean, slowest := t.gfxMHz()
	e, f, throttled := t.linkErrors(), t.fabric(), t.throttledBy()
	s := said{
		edge: orMinus(t.positive(attrEdge)), hotspot: orMinus(t.positive(attrHotspot)), memory: orMinus(t.positive(attrMemTemp)),
		power: orMinus(t.positive(attrPower)), gfx: orMinus(t.share(attrGfxActivity)), energy: orMinus(t.energyJ()), clock: orMinus(mean),
		slowest: orMinus(slowest), memClock: orMinus(t.positive(attrMemClock)), gts: orMinus(t.positive(attrLinkSpeed)), width: orMinus(t.linkWidth()),
		replays: orMinus(e.Replays), naks: orMinus(e.NAKsReceived), recoveries: orMinus(e.Recoveries), up: orMinus(f.LinksUp), down: orMinus(f.LinksDown),
		gbps: orMinus(f.LinkGbps), throttle: fmt.Sprint(throttled.Items),
	}
	if throttled.Unknown != "" {
		s.throttle = "unknown"
	}
	for _, c := range t.throttleCounters().Items {
		s.counters += fmt.Sprintf("%s %d/%d ", c.Reason.Value, c.Ticks.Value, orMinus(c.OfTicks))
	}
	return s
}

// none is a table that reports nothing.
func none() said {
	return said{edge: -1, hotspot: -1, memory: -1, power: -1, gfx: -1, energy: -1, clock: -1, slowest: -1, memClock: -1, gts: -1, width: -1, replays: -1, naks: -1, recoveries: -1, up: -1, down: -1, gbps: -1, throttle: "unknown"}
}

// card1x is a card of versions 1.1 to 1.3 at work.
func card1x(more ...at) []at {
	return append([]at{
		{4, 2, 48}, {6, 2, 61}, {8, 2, 58}, {16, 2, 99}, {22, 2, 250}, {24, 8, 65536 * 3}, {54, 2, 1700}, {58, 2, 1600}, {68, 4, 0}, {74, 2, 16}, {76, 2, 160},
	}, more...)
}

func clocks(offset int, mhz ...uint64) []at {
	var list []at
	for i, v := range mhz {
		list = append(list, at{offset + 2*i, 2, v})
	}
	return list
}

// TestMetricsLayouts reads tables of every version by the offsets of the kernel's header.
func TestMetricsLayouts(t *testing.T) {
	card := said{edge: 48, hotspot: 61, memory: 58, power: 250, gfx: 99, energy: 3, clock: 1700, slowest: -1, memClock: 1600, gts: 16, width: 16, replays: -1, naks: -1, recoveries: -1, up: -1, down: -1, gbps: -1, throttle: "[]"}
	with := func(s said, change func(*said)) said { change(&s); return s }
	apu := with(none(), func(s *said) {
		s.edge, s.power, s.gfx, s.clock, s.memClock, s.throttle = 45.5, 15.2, 37, 800, 1600, "[]"
	})
	module := said{edge: -1, hotspot: 70, memory: 64, power: 740, gfx: 100, energy: 3, clock: 2000, slowest: 1900, memClock: 1300, gts: 32, width: 16, replays: 5, naks: -1, recoveries: 1, up: -1, down: -1, gbps: 512, throttle: "unknown"}
	apuAt := func(temperature, activity, power, clock, throttle int) []at {
		return []at{{temperature, 2, 4550}, {activity, 2, 3700}, {power, 2, 15200}, {clock, 2, 800}, {clock + 4, 2, 1600}, {throttle, 4, 0}}
	}
	v14 := append([]at{{4, 2, 70}, {6, 2, 64}, {10, 2, 740}, {12, 2, 100}, {24, 8, 65536 * 3}, {40, 4, 0}, {48, 2, 16}, {50, 2, 320}, {52, 2, 16}, {54, 2, 32}, {80, 8, 1}, {88, 8, 5}, {280, 2, 1300}}, clocks(240, 2100, 1900)...)
	v15 := append([]at{{4, 2, 70}, {6, 2, 64}, {10, 2, 740}, {12, 2, 100}, {88, 8, 65536 * 3}, {104, 4, 0}, {112, 2, 16}, {114, 2, 320}, {116, 2, 16}, {118, 2, 32}, {144, 8, 1}, {152, 8, 5}, {168, 4, 7}, {172, 4, 9}, {352, 2, 1300}}, clocks(312, 2100, 1900)...)
	v16 := append([]at{{4, 2, 70}, {6, 2, 64}, {10, 2, 740}, {12, 2, 100}, {16, 8, 65536 * 3}, {32, 4, 1000}, {36, 4, 1}, {40, 4, 2}, {44, 4, 3}, {48, 4, 4}, {52, 4, 5}, {60, 2, 16}, {62, 2, 320}, {64, 2, 16}, {66, 2, 32}, {96, 8, 1}, {104, 8, 5}, {120, 4, 7}, {124, 4, 9}, {304, 2, 1300}}, clocks(264, 2100, 1900)...)
	v17 := append([]at{{4, 2, 70}, {6, 2, 64}, {10, 2, 740}, {12, 2, 100}, {24, 8, 65536 * 3}, {40, 4, 1000}, {44, 4, 1}, {48, 4, 2}, {52, 4, 3}, {56, 4, 4}, {60, 4, 5}, {68, 2, 16}, {70, 2, 320}, {72, 2, 16}, {74, 2, 32}, {104, 8, 1}, {112, 8, 5}, {128, 4, 7}, {132, 4, 9}, {336, 2, 1300}}, append(clocks(296, 2100, 1900), clocks(264, 0, 1, 1, 1, 1, 1, 1, 1)...)...)
	counting := with(module, func(s *said) {
		s.naks, s.counters = 9, "power 2/1000 thermal 3/1000 mem_thermal 5/1000 vr_thermal 4/1000 prochot 1/1000 "
	})
	linked := with(counting, func(s *said) { s.up, s.down = 7, 1 })
	for _, c := range []struct {
		version string
		size    int
		values  []at
		want    said
	}{
		{"1.0", 80, []at{{16, 2, 48}, {18, 2, 61}, {20, 2, 58}, {28, 2, 99}, {34, 2, 250}, {36, 4, 70000}, {54, 2, 1700}, {58, 2, 1600}, {68, 4, 1 << 5}, {74, 1, 16}, {75, 1, 160}}, with(card, func(s *said) { s.energy, s.throttle = -1, "[other]" })},
		{"1.1", 96, card1x(), card},
		{"1.2", 104, card1x(), card},
		{"1.3", 120, card1x(at{112, 8, 1<<36 | 1}), with(card, func(s *said) { s.throttle = "[power thermal]" })},
		{"1.3", 120, card1x(at{112, 8, 1<<46 | 1<<17 | 1<<56}), with(card, func(s *said) { s.throttle = "[current prochot other]" })},
		{"1.4", 288, v14, module},
		{"1.5", 360, v15, with(module, func(s *said) { s.naks = 9 })},
		{"1.6", 1664, v16, counting},
		{"1.7", 2208, v17, linked},
		{"1.8", 3872, v17, linked},
		{"2.0", 120, apuAt(16, 40, 44, 80, 112), apu},
		{"2.1", 120, apuAt(4, 28, 40, 76, 108), apu},
		{"2.2", 128, append(apuAt(4, 28, 40, 76, 108), at{120, 8, 1 << 7}), with(apu, func(s *said) { s.throttle = "[power]" })},
		{"2.3", 152, append(apuAt(4, 28, 40, 76, 108), at{120, 8, 0}), apu},
		{"2.4", 168, append(apuAt(4, 28, 40, 76, 108), at{120, 8, 0}), apu},
		{"3.0", 264, []at{{4, 2, 4550}, {42, 2, 37}, {112, 4, 95200}, {174, 2, 800}, {186, 2, 1600}, {224, 2, 2900}, {228, 4, 37}, {232, 4, 0}, {236, 4, 0}, {240, 4, 2}, {244, 4, 0}, {248, 4, 12}, {252, 4, 0}}, with(none(), func(s *said) {
			s.edge, s.power, s.gfx, s.clock, s.memClock = 45.5, 95.2, 37, 800, 1600
			s.counters = "prochot 37/-1 power_sustained 0/-1 power_fast 0/-1 power_slow 2/-1 core_thermal 0/-1 gfx_thermal 12/-1 soc_thermal 0/-1 "
		})},
	} {
		b := table(c.version, c.size, c.values...)
		if diff := cmp.Diff(c.want, says(parseMetrics("f", b)), cmp.AllowUnexported(said{})); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.version, diff)
		}
		if diff := cmp.Diff(none(), says(parseMetrics("f", table(c.version, c.size))), cmp.AllowUnexported(said{})); diff != "" {
			t.Errorf("%s of all ones (-want +got)\n%s", c.version, diff)
		}
		binary.LittleEndian.PutUint16(b, uint16(c.size-2))
		for _, bad := range [][]byte{b, table(c.version, c.size)[:c.size-1]} {
			if m := parseMetrics("f", bad); m.why == "" || m.positive(attrPower).Unknown != m.why {
				t.Errorf("%s of a wrong size was read: %+v", c.version, says(m))
			}
		}
	}
}

// attributeOf writes a field of version 1.9.
func attributeOf(id, unit, kind int, values ...uint64) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(unit)<<24|uint64(kind)<<20|uint64(id)<<10|uint64(len(values)))
	for _, v := range values {
		for i := range 1 << (kind / 2) {
			b = append(b, byte(v>>(8*i)))
		}
	}
	return b
}

func selfDescribing(fields ...[]byte) []byte {
	b := []byte{0, 0, 1, 9, byte(len(fields)), 0, 0, 0}
	for _, f := range fields {
		b = append(b, f...)
	}
	binary.LittleEndian.PutUint16(b, uint16(len(b)))
	return b
}

// TestSelfDescribingMetrics walks version 1.9: known fields by their number, whatever type they have, unknown ones by their size.
func TestSelfDescribingMetrics(t *testing.T) {
	const u8, s16, u16, u32, u64 = 0, 3, 2, 4, 6
	b := selfDescribing(
		attributeOf(0, 2, s16, 70), attributeOf(1, 2, u16, 0xffff), attributeOf(3, 3, u16, 990), attributeOf(900, 0, u8, 1, 2, 3), attributeOf(7, 0, u64, 65536*3), attributeOf(9, 0, u64, 1000),
		attributeOf(11, 0, u64, 2), attributeOf(16, 0, u16, 16), attributeOf(17, 7, u16, 320), attributeOf(19, 6, u16, 38), attributeOf(18, 0, u16, 16), attributeOf(25, 0, u32, 5),
		attributeOf(31, 0, u16, 1, 1, 1, 1, 1, 1, 1, 0xffff), attributeOf(33, 1, u16, 2100, 2000, 1900, 0xffff), attributeOf(37, 1, u16, 1300),
	)
	want := none()
	want.hotspot, want.power, want.energy, want.gts, want.width, want.replays, want.up, want.down, want.gbps = 70, 990, 3, 32, 16, 5, 7, 0, 608
	want.clock, want.slowest, want.memClock, want.counters = 2000, 1900, 1300, "power 2/1000 "
	if diff := cmp.Diff(want, says(parseMetrics("f", b)), cmp.AllowUnexported(said{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for cut := range len(b) {
		short := b[:cut]
		if cut >= 4 {
			short = append([]byte{}, short...)
			binary.LittleEndian.PutUint16(short, uint16(cut))
		}
		if m := parseMetrics("f", short); m.why == "" || len(m.fields) > 0 {
			t.Errorf("cut to %d bytes it was read: %+v", cut, says(m))
		}
	}
	if m := parseMetrics("f", selfDescribing(attributeOf(0, 2, 9, 1))); m.why == "" {
		t.Error("a type that is not known was read")
	}
}

// realMetrics is the table of a Radeon RX 6900 XT.
func realMetrics(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("../testdata/hosts/sysfs-rx6900xt/sys/class/drm/card0/device/gpu_metrics")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestCapturedMetrics compares tables of real cards with what is known of them.
func TestCapturedMetrics(t *testing.T) {
	text, err := os.ReadFile("../../../shared/fixtures/EXPECTED.json")
	if err != nil {
		t.Skipf("no public captures here: %v", err)
	}
	var all map[string]struct {
		GPUMetrics map[string]any `json:"gpu_metrics"`
		LinkGTS    float64        `json:"sysfs_link_gts"`
		PowerW     float64        `json:"power_w"`
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for name, card := range map[string]string{"amd/sysfs-rx6900xt": "card0", "amd/sysfs-rx9070": "card1", "amd/sysfs-vega56": "card0"} {
		g := capturedCard(t, name, card)
		want := all[name]
		if diff := cmp.Diff(want.GPUMetrics, expectedOf(g.table, want.GPUMetrics)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
		if want.PowerW > 0 && g.powerW().Value != want.PowerW {
			t.Errorf("%s: %+v, not %g W", name, g.powerW(), want.PowerW)
		}
		if other := g.link().GTS.Other; want.LinkGTS > 0 && other != fmt.Sprintf("%s says %g: the link inside the card", g.file("current_link_speed"), want.LinkGTS) {
			t.Errorf("%s: the card's own link is %q, not %g", name, other, want.LinkGTS)
		}
	}
}

// expectedOf gives a table's fields by the names that they have in the list of known values; nil for a card without a table.
func expectedOf(t metricsTable, want map[string]any) map[string]any {
	if t.why != "" {
		return nil
	}
	all := map[string]any{
		"version": t.version, "socket_power_w": t.number(attrPower).Value, "energy_raw": float64(t.fields[attrEnergy].values[0]), "gfx_pct": t.share(attrGfxActivity).Value,
		"pcie_width": float64(t.linkWidth().Value), "pcie_speed_gts": t.number(attrLinkSpeed).Value, "hotspot_c": t.number(attrHotspot).Value,
	}
	for key := range all {
		if _, asked := want[key]; !asked {
			delete(all, key)
		}
	}
	return all
}

func FuzzMetrics(f *testing.F) {
	f.Add(realMetrics(f))
	f.Add([]byte{4, 0, 1, 3})
	f.Add(selfDescribing(attributeOf(0, 2, 3, 70), attributeOf(33, 1, 2, 2100, 2000)))
	for _, version := range []string{"1.0", "1.5", "1.8", "2.4", "3.0"} {
		if l, ok := layoutOf(version); ok {
			f.Add(table(version, l.size))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m := parseMetrics("f", b)
		if m.why != "" && len(m.fields) > 0 {
			t.Errorf("%s, and %d fields", m.why, len(m.fields))
		}
		s := says(m)
		for _, v := range []float64{s.edge, s.hotspot, s.power, s.gfx, s.energy, s.clock, s.gts, s.gbps} {
			if math.IsNaN(v) || math.IsInf(v, 0) || v < -1 || v == 0 && v != s.gfx {
				t.Errorf("%+v", s)
			}
		}
	})
}
