// Package pci reads devices of the PCI bus: who they are, their names and their links.
package pci

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

// Device is a device of the bus: its address, "" when the capture does not tell, and its directory.
type Device struct{ Address, Dir string }

// IsAddress tells an address of the bus, "0000:1b:00.0".
func IsAddress(s string) bool {
	return regexp.MustCompile(`^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$`).MatchString(s)
}

// Accelerators gives the GPUs and accelerators of a vendor ("0x1002"), in the order of their addresses, and whether the bus could be
// read. Display class 0x03 and processing accelerators 0x12 count; MI300 has no display class. Where the bus is missing, as in
// captures made by hand, the cards of the graphics driver are taken.
func Accelerators(h host.Host, vendor string) (list []Device, complete bool) {
	_, err := h.List("/sys/bus/pci/devices")
	seen := map[string]bool{}
	for _, dir := range h.Match("/sys/bus/pci/devices", "*") {
		class, _ := h.Text(dir + "/class")
		if v, _ := h.Text(dir + "/vendor"); v != vendor || !(strings.HasPrefix(class, "0x03") || strings.HasPrefix(class, "0x12")) {
			continue
		}
		seen[path.Base(dir)] = true
		list = append(list, Device{path.Base(dir), dir})
	}
	for _, card := range h.Match("/sys/class/drm", "card[0-9]*") {
		dir := card + "/device"
		if v, _ := h.Text(dir + "/vendor"); v != vendor {
			continue
		}
		address := cardAddress(h, dir)
		if address == "" || !seen[address] {
			list = append(list, Device{address, dir})
		}
	}
	slices.SortStableFunc(list, func(a, b Device) int { return strings.Compare(a.Address, b.Address) })
	return list, err == nil || h.Absent("/sys/bus/pci")
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
	event := sut.Convert(host.TextFact(h, d.Dir+"/uevent"), func(s string) (map[string]string, error) { return host.KeyValues(s, "="), nil })
	fromEvent := func(key string) sut.Fact[string] {
		return sut.Convert(event, func(m map[string]string) (string, error) {
			_, id, ok := strings.Cut(m[key], ":")
			if !ok {
				return "", sut.ErrNoValue
			}
			return "0x" + strings.ToLower(id), nil
		})
	}
	p := sut.PCI{
		Address:     sut.Unknown[string]("%s does not name its address", d.Dir),
		DeviceID:    sut.First(host.TextFact(h, d.Dir+"/device"), fromEvent("PCI_ID")),
		SubsystemID: sut.First(host.TextFact(h, d.Dir+"/subsystem_device"), fromEvent("PCI_SUBSYS_ID")),
	}
	if d.Address != "" {
		p.Address = sut.Known(d.Address, d.Dir)
	}
	return p
}

// LinkOf gives a device's link. What runs is the slowest link on the way to the root port: a card may carry a switch, and then its
// own link says nothing about the slot.
func LinkOf(h host.Host, dir string) sut.Link {
	l := endOf(h, dir, "current")
	limits := endOf(h, dir, "max")
	l.MaxGTS, l.MaxWidth = limits.GTS, limits.Width
	l.SlotMaxGTS, l.SlotMaxWidth = sut.Unknown[float64]("%s shows no bridge above the device", dir), sut.Unknown[int]("%s shows no bridge above the device", dir)
	real, err := h.Real(dir)
	if err != nil {
		return l
	}
	for i, up := 0, path.Dir(real); IsAddress(path.Base(up)); i, up = i+1, path.Dir(up) {
		if i == 0 {
			slot := endOf(h, up, "max")
			l.SlotMaxGTS, l.SlotMaxWidth = slot.GTS, slot.Width
		}
		above := endOf(h, up, "current")
		if above.GTS.IsKnown() && above.GTS.Value < l.GTS.Value {
			above.GTS.Other = "the device's own link runs faster: " + l.GTS.Source
			l.GTS = above.GTS
		}
		if above.Width.IsKnown() && above.Width.Value < l.Width.Value {
			l.Width = above.Width
		}
	}
	return l
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
	var text, source string
	for _, name := range []string{"/usr/share/hwdata/pci.ids", "/usr/share/misc/pci.ids"} {
		if t, err := h.Text(name); err == nil {
			text, source = t, name
			break
		}
	}
	return func(vendor, device string) sut.Fact[string] {
		if vendor == "" || device == "" {
			return sut.Unknown[string]("the device has no PCI id")
		}
		if text == "" {
			return sut.Unknown[string]("PCI id %s:%s: this system has no list of PCI ids", vendor, device)
		}
		if name := lookupPCI(text, strings.TrimPrefix(vendor, "0x"), strings.TrimPrefix(device, "0x")); name != "" {
			return sut.Known(name, source)
		}
		return sut.Unknown[string]("PCI id %s:%s is not in %s", vendor, device, source)
	}
}

// lookupPCI finds "vendor device" in a pci.ids text: vendors at the margin, their devices behind one tab.
func lookupPCI(text, vendor, device string) string {
	at := strings.Index("\n"+text, "\n"+vendor+"  ")
	if at < 0 || len(vendor) != 4 || len(device) != 4 {
		return ""
	}
	maker := ""
	for line := range strings.Lines(text[at:]) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case maker == "":
			maker = strings.TrimSpace(line[4:])
		case strings.HasPrefix(line, "\t"+device+"  "):
			return maker + " " + strings.TrimSpace(line[5:])
		case line != "" && line[0] != '\t' && line[0] != '#':
			return ""
		}
	}
	return ""
}
