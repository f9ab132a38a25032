package pci

import (
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

// Vendors of accelerators, as the bus names them.
const (
	AMD    = "0x1002"
	NVIDIA = "0x10de"
	Intel  = "0x8086"
)

// Device is a device of the bus: its address, "" when the capture does not tell, and its directory.
type Device struct{ Address, Dir string }

// IsAddress tells an address of the bus, "0000:1b:00.0".
func IsAddress(s string) bool {
	domain, rest, _ := strings.Cut(s, ":")
	return len(domain) >= 4 && len(rest) == 7 && rest[2] == ':' && rest[5] == '.' && strings.Trim(domain+rest, "0123456789abcdef:.") == ""
}

// Bus is where the kernel lists the devices of the bus.
const Bus = "/sys/bus/pci/devices"

// Count counts the devices of a vendor whose class begins with class ("0x0680"); an error when the bus could not be read.
func Count(h host.Host, vendor, class string) (int, error) {
	if _, err := h.List(Bus); err != nil {
		return 0, err
	}
	n := 0
	for _, dir := range h.Match(Bus, "*") {
		if !isVendor(h, dir, vendor) {
			continue
		}
		if c, _ := h.Text(dir + "/class"); strings.HasPrefix(c, class) {
			n++
		}
	}
	return n, nil
}

// OtherVendors gives the vendors of accelerators on the bus that have no group of probes of their own, in order.
func OtherVendors(h host.Host) []string {
	var list []string
	for _, dir := range h.Match(Bus, "*") {
		if vendor, err := h.Text(dir + "/vendor"); err == nil && vendor != AMD && vendor != NVIDIA && isAccelerator(h, dir, vendor) {
			list = append(list, vendor)
		}
	}
	return host.Distinct(list)
}

// Accelerators gives the GPUs and accelerators of a vendor ("0x1002"), in the order of their addresses, and whether the bus could be
// read. Display class 0x03 and processing accelerators 0x12 count; MI300 has no display class. Where the bus is missing, as in
// captures made by hand, the cards of the graphics driver are taken.
func Accelerators(h host.Host, vendor string) (list []Device, complete bool) {
	_, err := h.List(Bus)
	seen := map[string]bool{}
	for _, dir := range h.Match(Bus, "*") {
		if isVendor(h, dir, vendor) && isAccelerator(h, dir, vendor) && !isPart(h, dir) {
			seen[path.Base(dir)] = true
			list = append(list, Device{path.Base(dir), dir})
		}
	}
	for _, card := range h.Match("/sys/class/drm", "card[0-9]*") {
		d := Device{cardAddress(h, card+"/device"), card + "/device"}
		if isVendor(h, d.Dir, vendor) && (d.Address == "" || !seen[d.Address]) && !isPart(h, d.Dir) {
			list = append(list, d)
		}
	}
	slices.SortStableFunc(list, func(a, b Device) int { return strings.Compare(a.Address, b.Address) })
	return list, err == nil || noBus(h)
}

// noBus tells a machine without the bus from one whose files of the kernel are hidden: it has others.
func noBus(h host.Host) bool {
	buses, err := h.List("/sys/bus")
	return h.Absent("/sys/bus/pci") && err == nil && len(buses) > 0
}

// isPart tells a virtual function on the host that divides its device: it is counted with that. A guest sees no physfn.
func isPart(h host.Host, dir string) bool { return h.IsDir(dir + "/physfn") }

func isVendor(h host.Host, dir, vendor string) bool {
	v, _ := h.Text(dir + "/vendor")
	return v == vendor
}

func isAccelerator(h host.Host, dir, vendor string) bool {
	class, _ := h.Text(dir + "/class")
	return strings.HasPrefix(class, "0x12") || (strings.HasPrefix(class, "0x03") && !onlyScreen(vendor))
}

// onlyScreen tells vendors whose display devices compute nothing: of baseboard controllers, and those that hypervisors emulate.
func onlyScreen(vendor string) bool {
	return slices.Contains([]string{
		"0x1a03", "0x102b", "0x126f", "0x18ca", "0x19e5", // ASPEED, Matrox, Silicon Motion, XGI, HiSilicon
		"0x1234", "0x1af4", "0x1b36", "0x1013", "0x15ad", "0x1414", "0x80ee", // QEMU, virtio, QXL, Cirrus, VMware, Hyper-V, VirtualBox
	}, vendor)
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
		Address:           sut.Unknown[string]("%s does not name its address", d.Dir),
		DeviceID:          sut.First(ID(h, d.Dir+"/device"), fromEvent(h, d.Dir, "PCI_ID", 1)),
		SubsystemID:       sut.First(ID(h, d.Dir+"/subsystem_device"), fromEvent(h, d.Dir, "PCI_SUBSYS_ID", 1)),
		SubsystemVendorID: sut.First(ID(h, d.Dir+"/subsystem_vendor"), fromEvent(h, d.Dir, "PCI_SUBSYS_ID", 0)),
		Revision:          ID(h, d.Dir+"/revision"),
	}
	if d.Address != "" {
		p.Address = sut.Known(d.Address, d.Dir)
	}
	return p
}

// ID reads a number of the bus, "0x74a1" or "0xc0".
func ID(h host.Host, name string) sut.Fact[string] {
	return sut.Convert(host.TextFact(h, name), func(s string) (string, error) {
		digits, ok := strings.CutPrefix(strings.ToLower(s), "0x")
		if !ok || digits == "" || len(digits) > 4 || strings.Trim(digits, "0123456789abcdef") != "" {
			return "", sut.ErrNoValue
		}
		return "0x" + digits, nil
	})
}

// fromEvent reads one of the two ids of "PCI_SUBSYS_ID=1DA2:440E": the maker's, then the product's.
func fromEvent(h host.Host, dir, key string, at int) sut.Fact[string] {
	return sut.Convert(host.TextFact(h, dir+"/uevent"), func(text string) (string, error) {
		ids := strings.Split(host.KeyValues(text, "=")[key], ":")
		if len(ids) != 2 {
			return "", sut.ErrNoValue
		}
		return "0x" + strings.ToLower(ids[at]), nil
	})
}

// LinkOf gives a device's link. What runs is the slowest link on the way to the root port: a card may carry a switch, and then its
// own link says nothing about the slot.
func LinkOf(h host.Host, dir string) sut.Link {
	l, limits := endOf(h, dir, "current"), endOf(h, dir, "max")
	l.MaxGTS, l.MaxWidth = limits.GTS, limits.Width
	bridges, err := bridgesAbove(h, dir)
	switch {
	case err != nil:
		l.SlotMaxGTS, l.SlotMaxWidth, l.ACSRedirect = sut.Unknown[float64]("%s", err), sut.Unknown[int]("%s", err), sut.Unknown[bool]("%s", err)
		return l
	case len(bridges) == 0:
		const none = "no bridge is above the device"
		l.SlotMaxGTS, l.SlotMaxWidth, l.ACSRedirect = sut.NA[float64](none), sut.NA[int](none), sut.NA[bool](none)
		return l
	}
	slot := endOf(h, bridges[0], "max")
	l.SlotMaxGTS, l.SlotMaxWidth, l.ACSRedirect = slot.GTS, slot.Width, redirect(h, bridges)
	for _, bridge := range bridges {
		slowest(&l, endOf(h, bridge, "current"))
	}
	return l
}

// Attached tells how a device is built in: behind a port of the root complex, as cards and modules are, or as a part of the complex, as
// the GPU of a processor is.
func Attached(h host.Host, d Device) (behindPort bool, err error) {
	bridges, err := bridgesAbove(h, d.Dir)
	return len(bridges) > 0, err
}

// bridgesAbove gives the way from a device to its root port, none for a part of the root complex. It is not known where the kernel's tree
// of devices is not there, as in captures made by hand.
func bridgesAbove(h host.Host, dir string) ([]string, error) {
	real, err := h.Real(dir)
	if err != nil {
		return nil, err
	}
	var list []string
	up := path.Dir(real)
	for ; IsAddress(path.Base(up)); up = path.Dir(up) {
		list = append(list, up)
	}
	if !strings.HasPrefix(path.Base(up), "pci") {
		return nil, errors.New(dir + " does not lead into the kernel's tree of devices")
	}
	return list, nil
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
			return sut.Unknown[string]("PCI id %s:%s: there is no list of PCI ids (package pci.ids or hwdata)", vendor, device)
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

// ErrorsOf gives the errors of a device's link that the bus's own reporting counted.
func ErrorsOf(h host.Host, dir string) sut.LinkErrors {
	count := func(kind, total string) sut.Fact[int64] {
		return sut.Convert(host.TextFact(h, dir+"/aer_dev_"+kind), func(text string) (int64, error) { return parseAER(text, total) })
	}
	return sut.LinkErrors{
		AERCorrectable: count("correctable", "TOTAL_ERR_COR"), AERNonfatal: count("nonfatal", "TOTAL_ERR_NONFATAL"), AERFatal: count("fatal", "TOTAL_ERR_FATAL"),
	}
}

// parseAER reads a total among lines of "RxErr 0".
func parseAER(text, total string) (int64, error) {
	for line := range strings.Lines(text) {
		if n, ok := strings.CutPrefix(line, total+" "); ok {
			v, err := strconv.ParseUint(strings.TrimSpace(n), 10, 63)
			return int64(v), err
		}
	}
	return 0, sut.ErrNoValue
}

// Maker looks the maker of a device up in the system's list of PCI ids; without one its id stands for it.
func Maker(h host.Host, vendor string) sut.Fact[string] {
	text, source := idList(h)
	if maker, _ := makerIn(text, strings.TrimPrefix(vendor, "0x")); maker != "" {
		return sut.Known(maker, source)
	}
	return sut.Known("PCI vendor "+vendor, "the bus; no list of PCI ids names it")
}

// makerIn finds a vendor in a pci.ids text, and gives what follows its line.
func makerIn(text, vendor string) (maker, rest string) {
	at := strings.Index("\n"+text, "\n"+vendor+"  ")
	if at < 0 || len(vendor) != 4 {
		return "", ""
	}
	head, rest, _ := strings.Cut(text[at:], "\n")
	return strings.TrimSpace(strings.TrimPrefix(head, vendor)), rest
}

// lookupPCI finds "vendor device" in a pci.ids text: vendors at the margin, their devices behind one tab.
func lookupPCI(text, vendor, device string) string {
	maker, rest := makerIn(text, vendor)
	if maker == "" || len(device) != 4 {
		return ""
	}
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
