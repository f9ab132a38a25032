package pci

import (
	"path"
	"slices"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

// Device is a device of the bus: its address, "" when the capture does not tell, and its directory.
type Device struct{ Address, Dir string }

// IsAddress tells an address of the bus, "0000:1b:00.0".
func IsAddress(s string) bool {
	domain, rest, _ := strings.Cut(s, ":")
	return len(domain) >= 4 && len(rest) == 7 && rest[2] == ':' && rest[5] == '.' && strings.Trim(domain+rest, "0123456789abcdef:.") == ""
}

// Accelerators gives the GPUs and accelerators of a vendor ("0x1002"), in the order of their addresses, and whether the bus could be
// read. Display class 0x03 and processing accelerators 0x12 count; MI300 has no display class. Where the bus is missing, as in
// captures made by hand, the cards of the graphics driver are taken.
func Accelerators(h host.Host, vendor string) (list []Device, complete bool) {
	const bus = "/sys/bus/pci/devices"
	_, err := h.List(bus)
	seen := map[string]bool{}
	for _, dir := range h.Match(bus, "*") {
		if isVendor(h, dir, vendor) && isAccelerator(h, dir) {
			seen[path.Base(dir)] = true
			list = append(list, Device{path.Base(dir), dir})
		}
	}
	for _, card := range h.Match("/sys/class/drm", "card[0-9]*") {
		d := Device{cardAddress(h, card+"/device"), card + "/device"}
		if isVendor(h, d.Dir, vendor) && (d.Address == "" || !seen[d.Address]) {
			list = append(list, d)
		}
	}
	slices.SortStableFunc(list, func(a, b Device) int { return strings.Compare(a.Address, b.Address) })
	return list, err == nil || h.Absent("/sys/bus/pci")
}

func isVendor(h host.Host, dir, vendor string) bool {
	v, _ := h.Text(dir + "/vendor")
	return v == vendor
}

func isAccelerator(h host.Host, dir string) bool {
	class, _ := h.Text(dir + "/class")
	return strings.HasPrefix(class, "0x03") || strings.HasPrefix(class, "0x12")
}

func cardAddress(h host.Host, dir string) string {
	if real, err := h.Real(dir); err == nil && IsAddress(path.Base(real)) {
		return path.Base(real)
	}
	event, _ := h.Text(dir + "/uevent")
	return strings.ToLower(host.KeyValues(event, "=")["PCI_SLOT_NAME"])
}

// Identity gives a device's identity; cards of captures may have it in uevent alone.
func Identity(h host.Host, d Device) sut.PCI {
	p := sut.PCI{
		Address:     sut.Unknown[string]("%s does not name its address", d.Dir),
		DeviceID:    sut.First(host.TextFact(h, d.Dir+"/device"), fromEvent(h, d.Dir, "PCI_ID")),
		SubsystemID: sut.First(host.TextFact(h, d.Dir+"/subsystem_device"), fromEvent(h, d.Dir, "PCI_SUBSYS_ID")),
	}
	if d.Address != "" {
		p.Address = sut.Known(d.Address, d.Dir)
	}
	return p
}

// fromEvent reads the second id of "PCI_ID=1002:73BF".
func fromEvent(h host.Host, dir, key string) sut.Fact[string] {
	return sut.Convert(host.TextFact(h, dir+"/uevent"), func(text string) (string, error) {
		_, id, ok := strings.Cut(host.KeyValues(text, "=")[key], ":")
		if !ok {
			return "", sut.ErrNoValue
		}
		return "0x" + strings.ToLower(id), nil
	})
}

// LinkOf gives a device's link. What runs is the slowest link on the way to the root port: a card may carry a switch, and then its
// own link says nothing about the slot.
func LinkOf(h host.Host, dir string) sut.Link {
	l, limits := endOf(h, dir, "current"), endOf(h, dir, "max")
	l.MaxGTS, l.MaxWidth = limits.GTS, limits.Width
	bridges := bridgesAbove(h, dir)
	if len(bridges) == 0 {
		l.SlotMaxGTS, l.SlotMaxWidth = sut.Unknown[float64]("%s shows no bridge above the device", dir), sut.Unknown[int]("%s shows no bridge above the device", dir)
		return l
	}
	slot := endOf(h, bridges[0], "max")
	l.SlotMaxGTS, l.SlotMaxWidth = slot.GTS, slot.Width
	for _, bridge := range bridges {
		slowest(&l, endOf(h, bridge, "current"))
	}
	return l
}

// bridgesAbove gives the way from a device to its root port.
func bridgesAbove(h host.Host, dir string) []string {
	real, err := h.Real(dir)
	if err != nil {
		return nil
	}
	var list []string
	for up := path.Dir(real); IsAddress(path.Base(up)); up = path.Dir(up) {
		list = append(list, up)
	}
	return list
}

// slowest takes over what is less than the device's own link.
func slowest(l *sut.Link, above sut.Link) {
	if above.GTS.IsKnown() && above.GTS.Value < l.GTS.Value {
		above.GTS.Other = "the device's own link runs faster: " + l.GTS.Source
		l.GTS = above.GTS
	}
	if above.Width.IsKnown() && above.Width.Value < l.Width.Value {
		l.Width = above.Width
	}
}

func endOf(h host.Host, dir, which string) sut.Link {
	return sut.Link{
		GTS:   sut.Convert(host.TextFact(h, dir+"/"+which+"_link_speed"), host.LeadingNumber),
		Width: sut.Convert(host.IntFact[int](h, dir+"/"+which+"_link_width"), Width),
	}
}

// Width refuses 0 (no link) and 255 (not known).
func Width(w int) (int, error) {
	if w <= 0 || w > 32 {
		return 0, sut.ErrNoValue
	}
	return w, nil
}

// GenerationGTS is the rate of a PCI Express generation.
func GenerationGTS(gen int) (float64, error) {
	if gen < 1 || gen > 7 {
		return 0, sut.ErrNoValue
	}
	return []float64{2.5, 5, 8, 16, 32, 64, 128}[gen-1], nil
}

// Names looks devices up in the system's list of PCI ids.
func Names(h host.Host) func(vendor, device string) sut.Fact[string] {
	text, source := idList(h)
	return func(vendor, device string) sut.Fact[string] {
		switch {
		case vendor == "" || device == "":
			return sut.Unknown[string]("the device has no PCI id")
		case text == "":
			return sut.Unknown[string]("PCI id %s:%s: there is no list of PCI ids", vendor, device)
		}
		if name := lookupPCI(text, strings.TrimPrefix(vendor, "0x"), strings.TrimPrefix(device, "0x")); name != "" {
			return sut.Known(name, source)
		}
		return sut.Unknown[string]("PCI id %s:%s is not in %s", vendor, device, source)
	}
}

func idList(h host.Host) (text, source string) {
	for _, name := range []string{"/usr/share/hwdata/pci.ids", "/usr/share/misc/pci.ids"} {
		if text, err := h.Text(name); err == nil {
			return text, name
		}
	}
	return "", ""
}

// lookupPCI finds "vendor device" in a pci.ids text: vendors at the margin, their devices behind one tab.
func lookupPCI(text, vendor, device string) string {
	at := strings.Index("\n"+text, "\n"+vendor+"  ")
	if at < 0 || len(vendor) != 4 || len(device) != 4 {
		return ""
	}
	head, rest, _ := strings.Cut(text[at:], "\n")
	maker := strings.TrimSpace(strings.TrimPrefix(head, vendor))
	for line := range strings.Lines(rest) {
		if name, ok := strings.CutPrefix(line, "\t"+device+"  "); ok {
			return maker + " " + strings.TrimSpace(name)
		}
		if line = strings.TrimSpace(line[:1]); line != "" && line != "#" {
			break // the next vendor
		}
	}
	return ""
}
