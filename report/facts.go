package report

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"assay/probes"
)

// fact is one fact as a report shows it. Reason is why there is no value: State is then unknown or na.
type fact struct {
	Label  string
	Value  string
	Source string
	Other  string // a second source that disagrees
	State  string // known | unknown | na
	Reason string
}

// Known tells whether the fact has a value.
func (f fact) Known() bool { return f.State == "known" }

// Hover is the text a reader gets over the value.
func (f fact) Hover() string {
	if !f.Known() {
		return f.State + ": " + f.Reason
	}
	if f.Other != "" {
		return "source: " + f.Source + "; also: " + f.Other
	}
	return "source: " + f.Source
}

// group is the facts of one part of the SUT document.
type group struct {
	Name  string
	Facts []fact
}

// factGroups lists every fact of a SUT, in the document's order, under the names of the contract. It walks the type, so that a new
// field is shown without a change here.
func factGroups(s probes.SUT) []group {
	var groups []group
	v := reflect.ValueOf(s)
	for i := range v.NumField() {
		name := jsonName(v.Type().Field(i))
		if v.Field(i).Kind() != reflect.Struct || name == "program" {
			continue
		}
		groups = append(groups, group{Name: capital(humanise(name)), Facts: walk("", name, v.Field(i))})
	}
	return groups
}

// walk gives the facts under v; path is the label so far, key the field's own name.
func walk(path, key string, v reflect.Value) []fact {
	if f, ok := factOf(path, key, v); ok {
		return []fact{f}
	}
	if items := v.FieldByName("Items"); items.IsValid() {
		return walkList(path, key, items, v.FieldByName("Unknown").String())
	}
	var out []fact
	for i := range v.NumField() {
		name := jsonName(v.Type().Field(i))
		out = append(out, walk(strings.TrimSpace(path+" "+humanise(name)), name, v.Field(i))...)
	}
	return out
}

// factOf reads a probes.Fact of any type.
func factOf(path, key string, v reflect.Value) (fact, bool) {
	value, na := v.FieldByName("Value"), v.FieldByName("NA")
	if !value.IsValid() || !na.IsValid() {
		return fact{}, false
	}
	f := fact{Label: capital(path), Source: v.FieldByName("Source").String(), Other: v.FieldByName("Other").String(), State: "known"}
	unknown := v.FieldByName("Unknown").String()
	switch {
	case na.String() != "":
		f.State, f.Reason = "na", na.String()
	case f.Source == "":
		f.State, f.Reason = "unknown", orElse(unknown, "not probed")
	default:
		f.Value = valueText(key, value.Interface())
	}
	return f, true
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// walkList gives one fact per item, or per field where all items are devices of one kind.
func walkList(path, key string, items reflect.Value, unknown string) []fact {
	label := capital(orElse(path, humanise(key)))
	switch {
	case unknown != "":
		return []fact{{Label: label, State: "unknown", Reason: unknown}}
	case items.Len() == 0:
		return []fact{{Label: label, Value: "none", Source: "known to be empty", State: "known"}}
	case items.Type().Elem().Kind() != reflect.Struct:
		return []fact{{Label: label, Value: valueText(key, items.Interface()), Source: "read as a list", State: "known"}}
	case key == "accelerators":
		return walkDevices(items)
	}
	var out []fact
	for i := range items.Len() {
		out = append(out, joinItem(label, i, walk("", "", items.Index(i))))
	}
	return mergeEqual(label, out)
}

// joinItem makes one line of an item's facts, under its own name where it has one: "Interfaces eth0", "BCM5720 · up · Speed unknown".
func joinItem(label string, i int, facts []fact) fact {
	name := fmt.Sprint(i)
	if n := slices.IndexFunc(facts, isName); n >= 0 {
		name = facts[n].Value
		facts = slices.Delete(slices.Clone(facts), n, n+1)
	}
	out := fact{Label: label + " " + name, State: "known"}
	var values, sources, others []string
	for _, f := range facts {
		switch {
		case f.Known():
			values = append(values, itemText(f))
			sources = append(sources, f.Source)
			others = append(others, f.Other)
		case f.State == "unknown":
			values = append(values, f.Label+" unknown ("+f.Reason+")")
		default:
			values = append(values, f.Label+" not applicable ("+f.Reason+")")
		}
	}
	out.Value, out.Source, out.Other = strings.Join(values, " · "), distinct(sources), distinct(others)
	if out.Value == "" {
		out.Value = none
	}
	return out
}

// isName tells whether a fact is what its item is called by.
func isName(f fact) bool {
	return f.Known() && slices.Contains([]string{"Slot", "Name", "Mount", "ID"}, f.Label)
}

// itemText names what a bare value would not tell.
func itemText(f fact) string {
	switch f.Label {
	case "Up":
		return map[string]string{"yes": "up", "no": "down"}[f.Value]
	case "Free bytes":
		return f.Value + " free"
	case "Configured speed":
		return "runs at " + f.Value
	case "PID", "CPUs", "Firmware":
		return f.Label + " " + f.Value
	}
	return f.Value
}

// mergeEqual folds neighbours of equal value into one line with a count, named from the first to the last.
func mergeEqual(label string, facts []fact) []fact {
	var out []fact
	for i := 0; i < len(facts); {
		n := 1
		for i+n < len(facts) && facts[i+n].Value == facts[i].Value && facts[i+n].Source == facts[i].Source {
			n++
		}
		f := facts[i]
		if n > 1 {
			f.Value = fmt.Sprintf("%d × %s", n, f.Value)
			f.Label += " …" + strings.TrimPrefix(facts[i+n-1].Label, label)
		}
		out = append(out, f)
		i += n
	}
	return out
}

// walkDevices shows each field once for all devices: "all 8: 750 W", or each value with the devices that have it.
func walkDevices(items reflect.Value) []fact {
	perDevice := make([][]fact, items.Len())
	for i := range perDevice {
		perDevice[i] = walk("", "", items.Index(i))
	}
	out := []fact{{Label: "Count", Value: fmt.Sprint(items.Len()), Source: "one entry per physical device", State: "known"}}
	for field := range perDevice[0] {
		var column []fact
		for _, facts := range perDevice {
			if field < len(facts) {
				column = append(column, facts[field])
			}
		}
		out = append(out, mergeDevices(column)...)
	}
	return out
}

// mergeDevices folds one field of all devices; devices that differ get a line for each value.
func mergeDevices(column []fact) []fact {
	var out []fact
	var members [][]string
	for i, f := range column {
		at := slices.IndexFunc(out, func(o fact) bool { return o.Value == f.Value && o.State == f.State && o.Reason == f.Reason })
		if at < 0 {
			out, members = append(out, f), append(members, nil)
			at = len(out) - 1
		}
		members[at] = append(members[at], fmt.Sprint(i))
	}
	if len(out) == len(column) && len(out) > 1 && !slices.ContainsFunc(out, func(f fact) bool { return !f.Known() }) {
		return []fact{joinDevices(out)}
	}
	for i := range out {
		if n := len(members[i]); n == len(column) && n > 1 && out[i].Known() {
			out[i].Value = fmt.Sprintf("%s on all %d", out[i].Value, n)
		} else if n < len(column) {
			out[i].Label += " of " + strings.Join(members[i], ", ")
		}
	}
	return out
}

// joinDevices lists a value that is different on each device, such as its address.
func joinDevices(facts []fact) fact {
	out := facts[0]
	var values, sources []string
	for _, f := range facts {
		values, sources = append(values, f.Value), append(sources, f.Source)
	}
	out.Value, out.Source = strings.Join(values, ", "), distinct(sources)
	return out
}

// distinct joins texts without repeating one; many are cut, for a list of devices reads the same file of each.
func distinct(texts []string) string {
	var out []string
	for _, t := range texts {
		if t != "" && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	if n := len(out); n > 6 {
		out = append(out[:6], fmt.Sprintf("and %d more", n-6))
	}
	return strings.Join(out, ", ")
}

// valueText writes a value with the unit that its name carries.
func valueText(key string, v any) string {
	switch x := v.(type) {
	case bool:
		return map[bool]string{true: "yes", false: "no"}[x]
	case string:
		return orElse(x, "(empty)")
	case []string:
		return orElse(strings.Join(x, ", "), "none")
	case int64:
		if strings.HasSuffix(key, "bytes") {
			return size(x)
		}
		return whole(float64(x))
	case int:
		return withUnit(key, float64(x))
	case float64:
		return withUnit(key, x)
	}
	return fmt.Sprint(v)
}

func withUnit(key string, v float64) string {
	units := []struct{ suffix, unit string }{{"_w", "W"}, {"mts", "MT/s"}, {"gts", "GT/s"}, {"_mbps", "Mb/s"}, {"_gbps", "Gb/s"}}
	for _, u := range units {
		if strings.HasSuffix(key, u.suffix) {
			return plain(v) + " " + u.unit
		}
	}
	if strings.HasSuffix(key, "width") {
		return "×" + plain(v)
	}
	return plain(v)
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return orElse(name, f.Name)
}

// humanise turns a field's name into words, with the usual capitals.
func humanise(name string) string {
	capitals := map[string]string{
		"cpu": "CPU", "cpus": "CPUs", "gpu": "GPU", "numa": "NUMA", "bios": "BIOS", "bmc": "BMC", "pci": "PCI", "os": "OS", "smt": "SMT", "vram": "VRAM",
		"vbios": "VBIOS", "ifwi": "IFWI", "ecc": "ECC", "xgmi": "XGMI", "nvlinks": "NVLinks", "dimms": "DIMMs", "thp": "THP", "aspm": "ASPM",
		"iommu": "IOMMU", "gts": "speed", "mts": "speed", "mbps": "speed", "gbps": "rate", "id": "ID", "pid": "PID", "rocm": "ROCm", "cuda": "CUDA", "nvidia": "NVIDIA", "infiniband": "InfiniBand", "cpuidle": "CPU idle", "kv": "KV",
	}
	words := strings.Split(name, "_")
	for i, w := range words {
		if c, ok := capitals[w]; ok {
			words[i] = c
		}
	}
	if last := len(words) - 1; last > 0 && slices.Contains([]string{"w", "bytes"}, words[last]) && name != "free_bytes" {
		words = words[:last]
	}
	s := strings.Join(words, " ")
	return strings.NewReplacer("speed speed", "speed", "rate rate", "rate").Replace(s)
}

// tally counts the facts by state.
func tally(groups []group) (known, unknown, na int) {
	for _, g := range groups {
		for _, f := range g.Facts {
			switch f.State {
			case "known":
				known++
			case "na":
				na++
			default:
				unknown++
			}
		}
	}
	return known, unknown, na
}
