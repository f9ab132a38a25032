package check

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"assay/probes/sut"
)

// leaf is a fact at its path: its value as text, or the reason why there is none.
type leaf struct {
	known bool
	text  string
}

// flatten gives every fact of a SUT by its path. Items of a list stand under what names them, so that one which is gone does not move the
// others. A list that could not be read stands there with its reason.
func flatten(s sut.SUT) map[string]leaf {
	out := map[string]leaf{}
	flattenInto(out, "", reflect.ValueOf(s))
	return out
}

func flattenInto(out map[string]leaf, at string, v reflect.Value) {
	if v.Kind() != reflect.Struct {
		return
	}
	if f, ok := leafOf(v); ok {
		out[at] = f
		return
	}
	if items := v.FieldByName("Items"); items.IsValid() && items.Kind() == reflect.Slice {
		if why := v.FieldByName("Unknown").String(); why != "" {
			out[at] = leaf{text: why}
		}
		for i := range items.Len() {
			flattenInto(out, fmt.Sprintf("%s[%s]", at, itemKey(i, items.Index(i))), items.Index(i))
		}
		return
	}
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		flattenInto(out, strings.TrimPrefix(at+"."+name, "."), v.Field(i))
	}
}

// leafOf reads a fact of any type.
func leafOf(v reflect.Value) (leaf, bool) {
	value, source := v.FieldByName("Value"), v.FieldByName("Source")
	if !value.IsValid() || !source.IsValid() || source.Kind() != reflect.String {
		return leaf{}, false
	}
	if source.String() != "" {
		return leaf{true, fmt.Sprint(value.Interface())}, true
	}
	return leaf{text: cmp.Or(v.FieldByName("Unknown").String(), v.FieldByName("NA").String(), "not probed")}, true
}

// itemKey is what an item of a list is called by, or its number.
func itemKey(i int, v reflect.Value) string {
	if a, ok := v.Interface().(sut.Accelerator); ok {
		return deviceKey(i, a)
	}
	for _, name := range []string{"Mount", "Name"} {
		if v.Kind() != reflect.Struct || !v.FieldByName(name).IsValid() {
			continue
		}
		if f, ok := leafOf(v.FieldByName(name)); ok && f.known {
			return f.text
		}
	}
	return fmt.Sprint(i)
}

func deviceKey(i int, a sut.Accelerator) string { return cmp.Or(a.PCI.Address.Value, fmt.Sprint(i)) }

// Remember fills what could not be read now with what was known before, so that a change is seen however many looks lie between. A GPU that
// was lost stays one that should answer, so that it is told at each look until it is back.
func Remember(before, now sut.SUT) sut.SUT {
	memory{}.fill(reflect.ValueOf(before), reflect.ValueOf(&now).Elem())
	_, lost := lostGPUs(before, now)
	for i, a := range now.Accelerators.Items { // of a list that fill has made anew
		if slices.Contains(lost, deviceKey(i, a)) {
			now.Accelerators.Items[i].Usable = sut.Known(true, "an earlier look")
		}
	}
	return now
}

// RememberOf fills what is not known now with what some sources, which were not asked again, told before.
func RememberOf(sources func(string) bool, before, now sut.SUT) sut.SUT {
	memory{sources}.fill(reflect.ValueOf(before), reflect.ValueOf(&now).Elem())
	return now
}

// memory is what may be filled from before: what some sources told, or, without a choice, everything.
type memory struct{ chosen func(source string) bool }

func (m memory) fill(old, now reflect.Value) {
	if now.Kind() != reflect.Struct {
		return
	}
	if f, ok := leafOf(now); ok {
		if !f.known && m.holds(old) {
			now.Set(old)
		}
		return
	}
	items := now.FieldByName("Items")
	switch {
	case !items.IsValid() || items.Kind() != reflect.Slice:
		for i := range now.NumField() {
			m.fill(old.Field(i), now.Field(i))
		}
	case now.FieldByName("Unknown").String() == "":
		m.fillItems(old.FieldByName("Items"), items)
	case m.chosen == nil || m.holds(old):
		now.Set(old)
	}
}

// fillItems matches the items of two lists by what they are called; one that only chosen sources told of is added. The new list is a copy,
// since a SUT shares its lists.
func (m memory) fillItems(old, items reflect.Value) {
	n := items.Len()
	fresh := reflect.AppendSlice(reflect.Zero(items.Type()), items)
	for j := range old.Len() {
		found := false
		for i := range n {
			if itemKey(j, old.Index(j)) == itemKey(i, fresh.Index(i)) {
				m.fill(old.Index(j), fresh.Index(i))
				found = true
			}
		}
		if !found && m.chosen != nil && m.holds(old.Index(j)) {
			fresh = reflect.Append(fresh, old.Index(j))
		}
	}
	if fresh.Len() > 0 {
		items.Set(fresh)
	}
}

// holds tells whether something is known below v, and all of it by the chosen sources.
func (m memory) holds(v reflect.Value) bool {
	known, others := m.count(v)
	return known > 0 && others == 0
}

// count gives the number of known facts below v, and that of those by sources that are not chosen.
func (m memory) count(v reflect.Value) (known, others int) {
	add := func(v reflect.Value) { k, o := m.count(v); known, others = known+k, others+o }
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			add(v.Index(i))
		}
	case reflect.Struct:
		if f, ok := leafOf(v); ok {
			if !f.known {
				return 0, 0
			}
			if m.chosen != nil && !m.chosen(v.FieldByName("Source").String()) {
				others = 1
			}
			return 1, others
		}
		for i := range v.NumField() {
			add(v.Field(i))
		}
	}
	return known, others
}
