package nvidia

import (
	"strings"

	"assay/probes/pci"
	"assay/probes/sut"
)

// series is one of telemetry, and the fields of a query that give it: the first that a driver knows and that has a value.
type series struct {
	name   string
	fields []string
	parse  func(value, unit string) (float64, error)
}

// allSeries are those of a GPU. The reading of this instant goes before the mean over a second, which newer devices give as the draw.
func allSeries() []series {
	plainly := func(parse func(string) (float64, error)) func(string, string) (float64, error) {
		return func(value, _ string) (float64, error) { return parse(value) }
	}
	return []series{
		{"power_w", []string{"power.draw.instant", "power.draw", "power.draw.average"}, plainly(watts)},
		{"energy_j", []string{"total_energy_consumption", "energy.total", "power.energy"}, joules},
		{"temp_c", []string{"temperature.gpu"}, plainly(celsius)},
		{"mem_temp_c", []string{"temperature.memory"}, plainly(celsius)},
		{"clock_mhz", []string{"clocks.current.sm", "clocks.sm"}, plainly(number)},
		{"mem_clock_mhz", []string{"clocks.current.memory", "clocks.mem"}, plainly(number)},
		{"util_pct", []string{"utilization.gpu"}, plainly(percent)},
		{"mem_util_pct", []string{"utilization.memory"}, plainly(percent)},
		{"vram_used_bytes", []string{"memory.used"}, plainly(usedBytes)},
		{"pcie_gts", []string{"pcie.link.gen.gpucurrent", "pcie.link.gen.current"}, plainly(rateOf)},
		{"pcie_width", []string{"pcie.link.width.current"}, plainly(lanesOf)},
	}
}

// reason is one for lower clocks: its name here, that of its counter of µs in a query, where drivers without counters have a flag of the
// same name, and those of its counter in the XML and the text.
type reason struct{ name, query, xml, text string }

func heldBack() []reason {
	return []reason{
		{"power", "sw_power_cap", "sw_power_cap", "sw_power_capping"},
		{"thermal", "sw_thermal_slowdown", "sw_therm_slowdown", "sw_thermal_slowdown"},
		{"hw_thermal", "hw_thermal_slowdown", "hw_therm_slowdown", "hw_thermal_slowdown"},
		{"power_brake", "hw_power_brake_slowdown", "hw_power_brake", "hw_power_braking"},
		{"sync_boost", "sync_boost", "sync_boost", "sync_boost"},
	}
}

// counterGroup stands before the counters of clock events.
const counterGroup = "clocks_event_reasons_counters."

func usedBytes(s string) (float64, error) {
	v, err := mebibytes(s)
	return float64(v), err
}

func rateOf(s string) (float64, error) {
	gen, err := number(s)
	if err != nil {
		return 0, err
	}
	return pci.GenerationGTS(int(gen))
}

func lanesOf(s string) (float64, error) {
	lanes, err := number(s)
	if err != nil {
		return 0, err
	}
	w, err := pci.Width(int(lanes))
	return float64(w), err
}

// seconds reads a counter of µs.
func seconds(s string) (float64, error) {
	v, err := count(s)
	return float64(v) / 1e6, err
}

// joules reads an energy by its unit, which stands behind the value or in the header; without a unit it is none.
func joules(value, unit string) (float64, error) {
	digits, behind, _ := strings.Cut(value, " ")
	if behind != "" {
		unit = behind
	}
	v, err := count(digits)
	if err != nil {
		return 0, err
	}
	for _, u := range []struct {
		unit  string
		parts float64
	}{{"J", 1}, {"mJ", 1e3}, {"uJ", 1e6}} {
		if u.unit == unit {
			return float64(v) / u.parts, nil
		}
	}
	return 0, sut.ErrNoValue
}

// sample adds what a row tells of a GPU.
func (t table) sample(out *sut.Batch, gpu string, row []string) {
	for _, s := range allSeries() {
		for _, field := range s.fields {
			value, unit := t.value(field, row)
			if v, err := s.parse(value, unit); isValue(value) && err == nil {
				out.Add(gpu+s.name, v)
				break
			}
		}
	}
}

// held is how long a GPU's clocks were held down, by reason, in s, and when that was read.
type held struct {
	atUS int64
	s    map[string]float64
}

// throttle adds the counters of a row as they are, and for every reason the share of the time since the row before; for a reason without a
// counter, whether it holds now. The highest share stands for all.
func (t table) throttle(out *sut.Batch, gpu string, row []string, before held) held {
	now, most, told := held{out.AtUS, map[string]float64{}}, 0.0, false
	share := func(reason string, pct float64) {
		out.Add(gpu+"throttle_"+reason+"_pct", pct)
		most, told = max(most, pct), true
	}
	for _, r := range heldBack() {
		value, _ := t.value(counterGroup+r.query, row)
		if v, err := seconds(value); err == nil {
			out.Add(gpu+"throttle_"+r.name+"_s", v)
			now.s[r.name] = v
			if last, ok := before.s[r.name]; ok && v >= last && now.atUS > before.atUS {
				share(r.name, min(100, 100*(v-last)/(float64(now.atUS-before.atUS)/1e6)))
			}
			continue
		}
		switch t.flag(r.query, row) {
		case "Active":
			share(r.name, 100)
		case "Not Active":
			share(r.name, 0)
		}
	}
	if told {
		out.Add(gpu+"throttle_pct", most)
	}
	return now
}

// flag gives the state of a reason, in the old or the new name of the group.
func (t table) flag(name string, row []string) string {
	for _, group := range []string{"clocks_event_reasons.", "clocks_throttle_reasons."} {
		if state, _ := t.value(group+name, row); state != "" {
			return state
		}
	}
	return ""
}

// value gives a row's value of a field, and the unit that stands in the header; "" when the query has no such field.
func (t table) value(field string, row []string) (value, unit string) {
	for i, f := range t.fields {
		if f == field && i < len(row) {
			return strings.TrimSpace(row[i]), t.units[i]
		}
	}
	return "", ""
}
