package storage

import (
	"cmp"
	"context"
	"path"
	"reflect"
	"regexp"
	"strings"

	"assay/probes/host"
	"assay/probes/pci"
	"assay/probes/sut"
)

const blockDir = "/sys/block"

// readDrives gives the physical drives: no loop, RAM, optical, dm or md device, no hidden path of a multipath NVMe namespace, and of the
// paths to one drive the first.
func readDrives(ctx context.Context, h host.Host) sut.List[sut.Drive] {
	virtual := regexp.MustCompile(`^(loop|ram|zram|sr|fd|dm-|md|nbd|rbd|drbd|bcache|zd)\d|^nvme\d+c\d+n|^mmcblk\d+(boot|rpmb)`)
	var dirs []string
	list := sut.List[sut.Drive]{Items: []sut.Drive{}}
	for _, dev := range h.Match(blockDir, "*") {
		bytes := sut.Convert(host.TextFact(h, dev+"/size"), sectors)
		if virtual.MatchString(path.Base(dev)) || (bytes.IsKnown() && bytes.Value == 0) || isLaterPath(h, dev) {
			continue
		}
		d := readDrive(h, dev)
		d.Bytes = bytes
		dirs, list.Items = append(dirs, dev), append(list.Items, d)
	}
	readHealth(ctx, h, dirs, list.Items)
	return list
}

// isLaterPath tells a disk that is one more path to a drive which device-mapper joins.
func isLaterPath(h host.Host, dev string) bool {
	for _, holder := range h.Match(dev+"/holders", "dm-*") {
		name := path.Base(holder)
		uuid, _ := h.Text("/sys/class/block/" + name + "/dm/uuid")
		if !strings.HasPrefix(uuid, "mpath-") {
			continue
		}
		paths := h.Match("/sys/class/block/"+name+"/slaves", "*")
		return len(paths) > 0 && path.Base(paths[0]) != path.Base(dev)
	}
	return false
}

func readDrive(h host.Host, dev string) sut.Drive {
	c := controller(h, dev)
	return sut.Drive{
		Name:      sut.Known(path.Base(dev), dev),
		Model:     sut.First(host.TextFact(h, dev+"/device/model"), host.TextFact(h, dev+"/device/name")),
		Kind:      driveKind(h, dev),
		Firmware:  sut.First(host.TextFact(h, dev+"/device/firmware_rev"), host.TextFact(h, dev+"/device/rev"), host.TextFact(h, dev+"/device/fwrev")),
		Transport: transport(h, dev, c),
		Scheduler: sut.Convert(host.TextFact(h, dev+"/queue/scheduler"), func(s string) (string, error) {
			if !strings.Contains(s, "[") && s != "" {
				return s, nil // the only one
			}
			return host.Bracketed(s)
		}),
		Link: driveLink(h, c),
	}
}

// controller gives the directory of an NVMe drive's controller; with several paths the drive belongs to a subsystem, and the first
// controller of it is taken. Other drives have none.
func controller(h host.Host, dev string) string {
	if !strings.HasPrefix(path.Base(dev), "nvme") {
		return ""
	}
	if _, err := h.Text(dev + "/device/transport"); err != nil {
		for _, c := range h.Match(dev+"/device", "nvme[0-9]*") {
			if _, err := h.Text(c + "/transport"); err == nil {
				return c
			}
		}
	}
	return dev + "/device"
}

// transport is how a drive is reached, by its controller's word or by its way through the system's devices.
func transport(h host.Host, dev, controller string) sut.Fact[string] {
	if controller != "" {
		return host.TextFact(h, controller+"/transport")
	}
	real, err := h.Real(dev + "/device")
	if err != nil {
		return sut.Unknown[string]("%s/device cannot be followed", dev)
	}
	for _, way := range []struct{ part, name string }{
		{"/usb", "usb"}, {"/ata", "sata"}, {"/session", "iscsi"}, {"/rport-", "fc"}, {"/end_device-", "sas"}, {"/virtio", "virtio"}, {"/xen", "xen"}, {"/mmc", "mmc"},
	} {
		if strings.Contains(real, way.part) {
			return sut.Known(way.name, dev+"/device")
		}
	}
	return sut.Unknown[string]("the way to %s names no transport", dev)
}

func driveLink(h host.Host, controller string) (link sut.Link) {
	if controller == "" {
		sut.GiveNA(reflect.ValueOf(&link).Elem(), "no PCIe link of its own")
		return link
	}
	return pci.LinkOf(h, controller+"/device")
}

// driveKind tells by what a drive stores.
func driveKind(h host.Host, dev string) sut.Fact[string] {
	vendor, _ := h.Text(dev + "/device/vendor")
	model, _ := h.Text(dev + "/device/model")
	turns := host.TextFact(h, dev+"/queue/rotational")
	kind, why := mediumOf(path.Base(dev), vendor, model, turns.Value)
	switch {
	case kind == "" && why == "":
		return sut.Unknown[string]("%s", cmp.Or(turns.Unknown, turns.Source+" does not tell whether it turns"))
	case kind == "":
		return sut.Unknown[string]("%s", why)
	case kind == "nvme":
		return sut.Known(kind, dev)
	}
	return sut.Known(kind, turns.Source)
}

// mediumOf tells nvme, ssd and hdd apart, or why nothing could. What the kernel believes of rotation is true of drives only: a virtual disk and
// the volume of a RAID controller say what their makers found convenient.
func mediumOf(name, vendor, model, rotational string) (kind, why string) {
	behind := regexp.MustCompile(`(?i)\bPERC\b|LOGICAL VOLUME|MegaRAID|\bMR9\d|ServeRAID|\bBOSS\b|DELLBOSS|Virtual.?Disk|QEMU HARDDISK|VBOX HARDDISK|Smart Array|PersistentDisk|Elastic Block`)
	switch {
	case strings.HasPrefix(name, "nvme"), strings.HasPrefix(strings.ToUpper(vendor), "NVME"):
		return "nvme", ""
	case strings.HasPrefix(name, "vd"), strings.HasPrefix(name, "xvd"):
		return "", name + " is a virtual disk: only its host knows the drive below"
	case behind.MatchString(model):
		return "", name + " is a volume of " + model + ": the drives behind it do not show"
	}
	switch rotational {
	case "1", "true":
		return "hdd", ""
	case "0", "false":
		return "ssd", ""
	}
	return "", ""
}
