package machine

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"assay/probes"
	"assay/report/figure"
)

// Fact is one fact as a report shows it. Reason is why there is no value: State is then unknown or na.
type Fact struct {
	Label  string
	Value  string
	Source string
	Other  string // a second source that disagrees
	State  string // known | unknown | na
	Reason string
}

// Known tells whether the fact has a value.
func (f Fact) Known() bool { return f.State == "known" }

// Hover is the text a reader gets over the value.
func (f Fact) Hover() string {
	if !f.Known() {
		return f.State + ": " + f.Reason
	}
	if f.Other != "" {
		return "source: " + f.Source + "; also: " + f.Other
	}
	return "source: " + f.Source
}

// Group is the facts of one part of the SUT document.
type Group struct {
	Name  string
	Facts []Fact
}

// Facts lists every fact of a SUT, in the document's order, under the names of the contract. It walks the type, so that a new
// field is shown without a change here.
func Facts(s probes.SUT) []Group {
	var groups []Group
	v := reflect.ValueOf(s)
	for i := range v.NumField() {
		name := FieldName(v.Type().Field(i))
		if v.Field(i).Kind() != reflect.Struct || name == "program" {
			continue
		}
		groups = append(groups, Group{Name: figure.Capital(figure.Words(name)), Facts: walk("", name, v.Field(i))})
	}
	return groups
}

// walk gives the facts under v; path is the label so far, key the field's own name.
func walk(path, key string, v reflect.Value) []Fact {
	if f, ok := factOf(path, key, v); ok {
		return []Fact{f}
	}
	if items := v.FieldByName("Items"); items.IsValid() {
		return walkList(path, key, items, v.FieldByName("Unknown").String())
	}
	var out []Fact
	for i := range v.NumField() {
		name := FieldName(v.Type().Field(i))
		out = append(out, walk(strings.TrimSpace(path+" "+figure.Words(name)), name, v.Field(i))...)
	}
	return out
}

// factOf reads a probes.Fact of any type.
func factOf(path, key string, v reflect.Value) (Fact, bool) {
	value, na := v.FieldByName("Value"), v.FieldByName("NA")
	if !value.IsValid() || !na.IsValid() {
		return Fact{}, false
	}
	f := Fact{Label: figure.Capital(path), Source: v.FieldByName("Source").String(), Other: v.FieldByName("Other").String(), State: "known"}
	unknown := v.FieldByName("Unknown").String()
	switch {
	case na.String() != "":
		f.State, f.Reason = "na", na.String()
	case f.Source == "":
		f.State, f.Reason = "unknown", cmp.Or(unknown, "not probed")
	default:
		f.Value = valueText(key, value.Interface())
	}
	return f, true
}

// walkList gives one fact per item, or per field where all items are devices of one kind.
func walkList(path, key string, items reflect.Value, unknown string) []Fact {
	label := figure.Capital(cmp.Or(path, figure.Words(key)))
	switch {
	case unknown != "":
		return []Fact{{Label: label, State: "unknown", Reason: unknown}}
	case items.Len() == 0:
		return []Fact{{Label: label, Value: "none", Source: "known to be empty", State: "known"}}
	case items.Type().Elem().Kind() != reflect.Struct:
		return []Fact{{Label: label, Value: valueText(key, items.Interface()), Source: "read as a list", State: "known"}}
	case key == "accelerators":
		return walkDevices(items)
	}
	var out []Fact
	for i := range items.Len() {
		out = append(out, joinItem(label, i, walk("", "", items.Index(i))))
	}
	return mergeEqual(label, out)
}

// joinItem makes one line of an item's facts, under its own name where it has one: "Interfaces eth0", "BCM5720 · up · not known: Speed (…)".
func joinItem(label string, i int, facts []Fact) Fact {
	name := fmt.Sprint(i)
	if n := slices.IndexFunc(facts, isName); n >= 0 {
		name = facts[n].Value
		facts = slices.Delete(slices.Clone(facts), n, n+1)
	}
	out := Fact{Label: label + " " + name, State: "known"}
	var values, sources, others []string
	for _, f := range facts {
		if f.Known() {
			values = append(values, itemText(f))
			sources = append(sources, f.Source)
			others = append(others, f.Other)
		}
	}
	values = append(values, absent(facts, "unknown", "not known")...)
	values = append(values, absent(facts, "na", "not applicable")...)
	out.Value, out.Source, out.Other = strings.Join(values, " · "), Distinct(sources), Distinct(others)
	if out.Value == "" {
		out.Value = figure.None
	}
	return out
}

// absent names what an item has no value for, once for each reason: "not known: Model, Ranks (needs root)".
func absent(facts []Fact, state, words string) []string {
	var reasons, out []string
	labels := map[string][]string{}
	for _, f := range facts {
		if f.State != state {
			continue
		}
		if labels[f.Reason] == nil {
			reasons = append(reasons, f.Reason)
		}
		labels[f.Reason] = append(labels[f.Reason], f.Label)
	}
	for _, r := range reasons {
		out = append(out, words+": "+strings.Join(labels[r], ", ")+" ("+r+")")
	}
	return out
}

// isName tells whether a fact is what its item is called by.
func isName(f Fact) bool {
	return f.Known() && slices.Contains([]string{"Slot", "Name", "Mount", "ID"}, f.Label)
}

// itemText names what a bare value would not tell.
func itemText(f Fact) string {
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
func mergeEqual(label string, facts []Fact) []Fact {
	var out []Fact
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
func walkDevices(items reflect.Value) []Fact {
	perDevice := make([][]Fact, items.Len())
	for i := range perDevice {
		perDevice[i] = walk("", "", items.Index(i))
	}
	out := []Fact{{Label: "Count", Value: fmt.Sprint(items.Len()), Source: "one entry per physical device", State: "known"}}
	for field := range perDevice[0] {
		var column []Fact
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
func mergeDevices(column []Fact) []Fact {
	var out []Fact
	var members [][]string
	for i, f := range column {
		at := slices.IndexFunc(out, func(o Fact) bool {
			return o.Value == f.Value && o.State == f.State && ofAnyDevice(o.Reason) == ofAnyDevice(f.Reason)
		})
		if at < 0 {
			out, members = append(out, f), append(members, nil)
			at = len(out) - 1
		}
		if out[at].Reason != f.Reason {
			out[at].Reason = ofAnyDevice(f.Reason)
		}
		out[at].Other = joinOther(out[at].Other, f.Other)
		members[at] = append(members[at], fmt.Sprint(i))
	}
	if len(out) == len(column) && len(out) > 1 && !slices.ContainsFunc(out, func(f Fact) bool { return !f.Known() }) {
		return []Fact{joinDevices(out)}
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

// ofAnyDevice takes out of a reason which device it is about, so that what is said of all of them is one reason.
func ofAnyDevice(reason string) string {
	return regexp.MustCompile(`[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d|(hwmon|card|nodes/)\d+`).ReplaceAllString(reason, "$1*")
}

// joinOther puts together what second sources say of several devices.
func joinOther(a, b string) string {
	if a == "" || b == "" || ofAnyDevice(a) == ofAnyDevice(b) {
		return cmp.Or(a, b)
	}
	return a + ", " + b
}

// joinDevices lists a value that is different on each device, such as its address.
func joinDevices(facts []Fact) Fact {
	out := facts[0]
	var values, sources []string
	for _, f := range facts {
		values, sources = append(values, f.Value), append(sources, f.Source)
		out.Other = joinOther(out.Other, f.Other)
	}
	out.Value, out.Source = strings.Join(values, ", "), Distinct(sources)
	return out
}

// Distinct joins texts without repeating one; many are cut, for a list of devices reads the same file of each.
func Distinct(texts []string) string {
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
		return cmp.Or(x, "(empty)")
	case []string:
		return cmp.Or(strings.Join(x, ", "), "none")
	case int64:
		if strings.HasSuffix(key, "bytes") {
			return figure.Size(x)
		}
		return figure.Whole(float64(x))
	case int:
		return withUnit(key, float64(x))
	case float64:
		return withUnit(key, x)
	}
	return fmt.Sprint(v)
}

func withUnit(key string, v float64) string {
	units := []struct{ suffix, unit string }{{"_w", "W"}, {"mts", "MT/s"}, {"gts", "GT/s"}, {"_mbps", "Mb/s"}, {"_gbps", "Gb/s"}, {"_mhz", "MHz"}, {"_pct", "%"}, {"_c", "°C"}}
	for _, u := range units {
		if strings.HasSuffix(key, u.suffix) {
			return figure.Plain(v) + " " + u.unit
		}
	}
	if strings.HasSuffix(key, "width") {
		return "×" + figure.Plain(v)
	}
	return figure.Plain(v)
}

// FieldName is the name a field has in the document.
func FieldName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return cmp.Or(name, f.Name)
}

// Tally counts the facts by state.
func Tally(groups []Group) (known, unknown, na int) {
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
