package probes

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// pciDevice is a device of the bus: its address, "" when the capture does not tell, and its directory.
type pciDevice struct{ address, dir string }

func isPCIAddress(s string) bool {
	return regexp.MustCompile(`^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$`).MatchString(s)
}

// accelerators gives the GPUs and accelerators of a vendor ("0x1002"), in the order of their addresses, and whether the bus could be
// read. Display class 0x03 and processing accelerators 0x12 count; MI300 has no display class. Where the bus is missing, as in
// captures made by hand, the cards of the graphics driver are taken.
func accelerators(h Host, vendor string) (list []pciDevice, complete bool) {
	_, err := h.list("/sys/bus/pci/devices")
	seen := map[string]bool{}
	for _, dir := range h.match("/sys/bus/pci/devices", "*") {
		class, _ := h.text(dir + "/class")
		if v, _ := h.text(dir + "/vendor"); v != vendor || !(strings.HasPrefix(class, "0x03") || strings.HasPrefix(class, "0x12")) {
			continue
		}
		seen[path.Base(dir)] = true
		list = append(list, pciDevice{path.Base(dir), dir})
	}
	for _, card := range h.match("/sys/class/drm", "card[0-9]*") {
		dir := card + "/device"
		if v, _ := h.text(dir + "/vendor"); v != vendor {
			continue
		}
		address := cardAddress(h, dir)
		if address == "" || !seen[address] {
			list = append(list, pciDevice{address, dir})
		}
	}
	slices.SortStableFunc(list, func(a, b pciDevice) int { return strings.Compare(a.address, b.address) })
	return list, err == nil || h.absent("/sys/bus/pci")
}

func cardAddress(h Host, dir string) string {
	if real, err := h.real(dir); err == nil && isPCIAddress(path.Base(real)) {
		return path.Base(real)
	}
	event, _ := h.text(dir + "/uevent")
	return strings.ToLower(keyValues(event, "=")["PCI_SLOT_NAME"])
}

// readPCI gives a device's identity; cards of captures may have it in uevent alone.
func readPCI(h Host, d pciDevice) PCI {
	event := convert(textFact(h, d.dir+"/uevent"), func(s string) (map[string]string, error) { return keyValues(s, "="), nil })
	fromEvent := func(key string) Fact[string] {
		return convert(event, func(m map[string]string) (string, error) {
			_, id, ok := strings.Cut(m[key], ":")
			if !ok {
				return "", errNoValue
			}
			return "0x" + strings.ToLower(id), nil
		})
	}
	p := PCI{
		Address:     Unknown[string]("%s does not name its address", d.dir),
		DeviceID:    first(textFact(h, d.dir+"/device"), fromEvent("PCI_ID")),
		SubsystemID: first(textFact(h, d.dir+"/subsystem_device"), fromEvent("PCI_SUBSYS_ID")),
	}
	if d.address != "" {
		p.Address = Known(d.address, d.dir)
	}
	return p
}

// readLink gives a device's link. What runs is the slowest link on the way to the root port: a card may carry a switch, and then its
// own link says nothing about the slot.
func readLink(h Host, dir string) Link {
	l := linkOf(h, dir, "current")
	limits := linkOf(h, dir, "max")
	l.MaxGTS, l.MaxWidth = limits.GTS, limits.Width
	l.SlotMaxGTS, l.SlotMaxWidth = Unknown[float64]("%s shows no bridge above the device", dir), Unknown[int]("%s shows no bridge above the device", dir)
	real, err := h.real(dir)
	if err != nil {
		return l
	}
	for i, up := 0, path.Dir(real); isPCIAddress(path.Base(up)); i, up = i+1, path.Dir(up) {
		if i == 0 {
			slot := linkOf(h, up, "max")
			l.SlotMaxGTS, l.SlotMaxWidth = slot.GTS, slot.Width
		}
		above := linkOf(h, up, "current")
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

func linkOf(h Host, dir, which string) Link {
	return Link{
		GTS:   convert(textFact(h, dir+"/"+which+"_link_speed"), leadingNumber),
		Width: convert(intFact[int](h, dir+"/"+which+"_link_width"), linkWidth),
	}
}

// linkWidth refuses 0 (no link) and 255 (not known).
func linkWidth(w int) (int, error) {
	if w <= 0 || w > 32 {
		return 0, errNoValue
	}
	return w, nil
}

// generationGTS is the rate of a PCI Express generation.
func generationGTS(gen int) (float64, error) {
	if gen < 1 || gen > 7 {
		return 0, errNoValue
	}
	return []float64{2.5, 5, 8, 16, 32, 64, 128}[gen-1], nil
}

// pciNames looks devices up in the system's list of PCI ids.
func pciNames(h Host) func(vendor, device string) Fact[string] {
	var text, source string
	for _, name := range []string{"/usr/share/hwdata/pci.ids", "/usr/share/misc/pci.ids"} {
		if t, err := h.text(name); err == nil {
			text, source = t, name
			break
		}
	}
	return func(vendor, device string) Fact[string] {
		if vendor == "" || device == "" {
			return Unknown[string]("the device has no PCI id")
		}
		if text == "" {
			return Unknown[string]("PCI id %s:%s: this system has no list of PCI ids", vendor, device)
		}
		if name := lookupPCI(text, strings.TrimPrefix(vendor, "0x"), strings.TrimPrefix(device, "0x")); name != "" {
			return Known(name, source)
		}
		return Unknown[string]("PCI id %s:%s is not in %s", vendor, device, source)
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
