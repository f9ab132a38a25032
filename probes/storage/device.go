package storage

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

// device is a block device as the layers above it see it.
type device struct {
	name     string
	layer    string // what it is: "lvm", "raid1", "nvme"; "" for a partition, which is no layer
	bytes    sut.Fact[int64]
	degraded sut.Fact[int] // members that an array lacks
	array    bool
	drive    bool // nothing lies below that the system could tell
	below    []string
}

// lookup finds a block device by the kernel's name, or by the name it was mounted from.
type lookup func(name string) (device, bool)

// sysfsDevices looks block devices up in /sys.
func sysfsDevices(h host.Host) lookup {
	return func(name string) (device, bool) {
		dir := "/sys/class/block/" + name
		if name == "" || strings.Contains(name, "/") || !h.IsDir(dir) {
			return device{}, false
		}
		d := device{name: name, bytes: sut.Convert(host.TextFact(h, dir+"/size"), sectors)}
		if _, err := h.Text(dir + "/partition"); err == nil {
			real, _ := h.Real(dir)
			d.below = []string{path.Base(path.Dir(real))}
			return d, true
		}
		for _, slave := range h.Match(dir+"/slaves", "*") {
			d.below = append(d.below, path.Base(slave))
		}
		d.layer = layerOf(h, dir)
		if strings.HasPrefix(d.layer, "raid") && d.layer != "raid0" {
			d.array, d.degraded = true, host.IntFact[int](h, dir+"/md/degraded")
		}
		d.drive = len(d.below) == 0 && d.layer != "loop" && d.layer != "zvol" // whose drives do not show
		return d, true
	}
}

// unknownDrive is the layer of a drive that does not tell by what it stores.
const unknownDrive = "disk"

// layerOf names what one block device is.
func layerOf(h host.Host, dir string) string {
	name := path.Base(dir)
	switch {
	case strings.HasPrefix(name, "dm-"):
		uuid, _ := h.Text(dir + "/dm/uuid")
		return mapperLayer(uuid)
	case strings.HasPrefix(name, "md"):
		level, _ := h.Text(dir + "/md/level")
		return cmp.Or(level, "md")
	case strings.HasPrefix(name, "zd"):
		return "zvol"
	}
	for _, kind := range []string{"loop", "bcache", "drbd", "rbd", "nbd", "zram"} {
		if strings.HasPrefix(name, kind) {
			return kind
		}
	}
	return cmp.Or(driveKind(h, dir).Value, unknownDrive)
}

// mapperLayer names what a device-mapper device is by the prefix of its uuid; a partition made by kpartx is no layer.
func mapperLayer(uuid string) string {
	prefix, _, _ := strings.Cut(uuid, "-")
	if strings.HasPrefix(prefix, "part") {
		return ""
	}
	names := map[string]string{"LVM": "lvm", "CRYPT": "crypt", "mpath": "multipath", "DMRAID": "dmraid", "VDO": "vdo"}
	return cmp.Or(names[prefix], "device-mapper")
}

// sectors turns the kernel's count of 512-byte sectors, whatever the block size is, into bytes.
func sectors(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > 1<<50 {
		return 0, sut.ErrNoValue
	}
	return n * 512, nil
}

// below is what lies below a file system: the layers, each named once in the order from the top, and the drives, each once over however
// many parents it is reached.
type below struct {
	layers, drives []string
	degraded       []sut.Fact[int]
	seen           map[string]bool
}

// under walks from block devices down to their drives.
func under(look lookup, names ...string) below {
	b := below{seen: map[string]bool{}}
	for _, name := range names {
		b.walk(look, name)
	}
	return b
}

func (b *below) walk(look lookup, name string) {
	d, ok := look(name)
	if !ok || b.seen[d.name] || len(b.seen) > 10_000 {
		return
	}
	b.seen[d.name] = true
	if d.layer != "" && !slices.Contains(b.layers, d.layer) {
		b.layers = append(b.layers, d.layer)
	}
	if d.array {
		b.degraded = append(b.degraded, d.degraded)
	}
	if d.drive {
		b.drives = append(b.drives, d.layer)
	}
	if d.layer == "multipath" && len(d.below) > 1 {
		d.below = d.below[:1] // the others are ways to the same drive
	}
	for _, name := range d.below {
		b.walk(look, name)
	}
}

// missing adds up what the arrays lack.
func (b below) missing() sut.Fact[int] {
	if len(b.degraded) == 0 {
		return sut.NA[int]("no array that can lose a member lies below")
	}
	sum := sut.Known(0, b.degraded[0].Source)
	for _, f := range b.degraded {
		if !f.IsKnown() {
			return f
		}
		sum.Value += f.Value
	}
	return sum
}
