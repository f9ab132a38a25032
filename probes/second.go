package probes

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"assay/probes/sut"
)

// second is a list of accelerators by a second source: it fills what the first could not tell and is compared with what it did.
type second List[Accelerator]

// joinSecond finds the devices of the second source in the first's list. One that stands there without an address can only be the one
// device of its kind; one that the first does not list at all is added.
func joinSecond(to *List[Accelerator], from *second) {
	before := len(to.Items)
	amd := slices.ContainsFunc(to.Items, func(a Accelerator) bool { return a.Vendor.Value == "AMD" })
	for _, other := range from.Items {
		_, addressed := other.PCI.Address.Get()
		if i := sameDevice(to.Items[:before], from.Items, other); i >= 0 {
			fill(reflect.ValueOf(&to.Items[i]).Elem(), reflect.ValueOf(other), true)
		} else if addressed || !amd {
			to.Items = append(to.Items, other)
		}
	}
	for i := range to.Items {
		if a := &to.Items[i]; a.Vendor.Value == "AMD" && !a.IFWI.IsKnown() && from.Unknown != "" {
			a.IFWI = Unknown[string]("%s", from.Unknown) // the kernel never gives it
		}
	}
	joinAccelerators(to, &List[Accelerator]{})
}

// sameDevice gives the place of a device of the second source in the first's list, -1 when it is not sure.
func sameDevice(first, all []Accelerator, other Accelerator) int {
	if address, ok := other.PCI.Address.Get(); ok {
		return slices.IndexFunc(first, func(a Accelerator) bool { return a.PCI.Address.Value == address })
	}
	same := func(a Accelerator) bool { return a.PCI.DeviceID.Value == other.PCI.DeviceID.Value }
	if count(first, same) != 1 || count(all, same) != 1 {
		return -1
	}
	return slices.IndexFunc(first, same)
}

func count[T any](list []T, is func(T) bool) int {
	n := 0
	for _, item := range list {
		if is(item) {
			n++
		}
	}
	return n
}

// moving are the parts that differ between two looks at one device.
func moving() []string {
	return []string{"VRAMUsedBytes", "LinkErrors", "RAS", "Clocks", "Temperatures", "UtilPct", "PowerW", "GTS", "Width", "Throttle", "ThrottleCounters", "Processes"}
}

// fill puts the second source's facts where the first has none, and notes at the others where the two disagree.
func fill(to, from reflect.Value, compare bool) {
	for i := range to.NumField() {
		name, t, f := to.Type().Field(i).Name, to.Field(i), from.Field(i)
		still := compare && !slices.Contains(moving(), name)
		switch {
		case t.FieldByName("Source").IsValid():
			fillFact(t, f, still)
		case name == "Firmware":
			addFirmware(t.Addr().Interface().(*List[sut.Firmware]), f.Interface().(List[sut.Firmware]))
		case t.FieldByName("Items").IsValid():
			if unread := t.FieldByName("Unknown").String() != ""; unread && f.FieldByName("Unknown").String() == "" {
				t.Set(f)
			}
		default:
			fill(t, f, still)
		}
	}
}

// addFirmware adds the parts that the first source has no file for.
func addFirmware(to *List[sut.Firmware], from List[sut.Firmware]) {
	for _, part := range from.Items {
		if !slices.ContainsFunc(to.Items, func(f sut.Firmware) bool { return f.Name.Value == part.Name.Value }) {
			to.Items, to.Unknown = append(to.Items, part), ""
		}
	}
}

func fillFact(to, from reflect.Value, compare bool) {
	source := from.FieldByName("Source").String()
	switch {
	case source == "" || to.FieldByName("NA").String() != "":
	case to.FieldByName("Source").String() == "":
		to.Set(from)
	case compare && !agree(to.FieldByName("Value").Interface(), from.FieldByName("Value").Interface()):
		note := fmt.Sprintf("%s says %v; what the kernel shows is taken", source, from.FieldByName("Value").Interface())
		if old := to.FieldByName("Other").String(); old != "" {
			note = old + "; " + note
		}
		to.FieldByName("Other").SetString(note)
	}
}

// agree tells whether two sources say the same: tools give whole watts and whole MiB, and names with less in them.
func agree(a, b any) bool {
	switch a := a.(type) {
	case float64:
		return math.Abs(a-b.(float64)) < 1
	case int64:
		d := a - b.(int64)
		return d < 1<<20 && d > -1<<20
	case string:
		x, y := strings.ToLower(a), strings.ToLower(b.(string))
		return strings.HasPrefix(x, y) || strings.HasPrefix(y, x)
	}
	return a == b
}
