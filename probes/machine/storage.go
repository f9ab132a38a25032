package machine

import (
	"cmp"
	"context"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

// ProbeStorage reads the drives and what is mounted on them.
func ProbeStorage(_ context.Context, h host.Host, s *sut.SUT) error {
	s.Storage = sut.Storage{Devices: readDrives(h), Filesystems: readFilesystems(h)}
	return nil
}

// readDrives gives the physical drives: no loop, RAM, optical, dm or md device, and no hidden path of a multipath NVMe namespace.
func readDrives(h host.Host) sut.List[sut.Drive] {
	const dir = "/sys/block"
	if _, err := h.List(dir); err != nil {
		return sut.List[sut.Drive]{Unknown: err.Error()}
	}
	virtual := regexp.MustCompile(`^(loop|ram|zram|sr|fd|dm-|md|nbd|rbd|drbd|bcache)\d|^nvme\d+c\d+n`)
	list := sut.List[sut.Drive]{Items: []sut.Drive{}}
	for _, dev := range h.Match(dir, "*") {
		bytes := sut.Convert(host.TextFact(h, dev+"/size"), sectors)
		if virtual.MatchString(path.Base(dev)) || (bytes.IsKnown() && bytes.Value == 0) {
			continue
		}
		list.Items = append(list.Items, sut.Drive{
			Model: sut.First(host.TextFact(h, dev+"/device/model"), host.TextFact(h, dev+"/device/name")),
			Bytes: bytes, Kind: driveKind(h, dev),
		})
	}
	return list
}

// sectors turns the kernel's count of 512-byte sectors, whatever the block size is, into bytes.
func sectors(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > 1<<50 {
		return 0, sut.ErrNoValue
	}
	return n * 512, nil
}

func driveKind(h host.Host, dev string) sut.Fact[string] {
	name := path.Base(dev)
	if strings.HasPrefix(name, "nvme") {
		return sut.Known("nvme", dev)
	}
	if strings.HasPrefix(name, "vd") || strings.HasPrefix(name, "xvd") {
		return sut.Unknown[string]("%s is a virtual disk: only its host knows the drive below", name)
	}
	return sut.Convert(host.TextFact(h, dev+"/queue/rotational"), func(s string) (string, error) {
		spins, err := host.ParseSwitch(s)
		if spins {
			return "hdd", err
		}
		return "ssd", err
	})
}

// mount is a line of mountinfo.
type mount struct{ device, root, point, fstype, source string }

// parseMountinfo reads /proc/self/mountinfo (proc_pid_mountinfo(5)); lines that do not fit are left out.
func parseMountinfo(text string) []mount {
	var list []mount
	for line := range strings.Lines(text) {
		left, right, ok := strings.Cut(line, " - ")
		l, r := strings.Fields(left), strings.Fields(right)
		if !ok || len(l) < 6 || len(r) < 2 {
			continue
		}
		list = append(list, mount{l[2], l[3], unescape(l[4]), r[0], unescape(r[1])})
	}
	return list
}

// unescape turns the octal codes of blanks, tabs, line ends, backslashes and hashes back into them.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`, `\043`, "#").Replace(s)
}

func isNetworkFS(fstype string) bool {
	names := []string{"nfs", "nfs4", "cifs", "smb3", "ceph", "lustre", "glusterfs", "beegfs", "gpfs", "wekafs", "9p", "virtiofs", "afs", "pvfs2", "daos"}
	return slices.Contains(names, strings.TrimPrefix(fstype, "fuse."))
}

// blockName gives the kernel's name of the device below a mount ("nvme0n1p2", "dm-0"), "" when it is on none.
func blockName(h host.Host, m mount) string {
	if !strings.HasPrefix(m.device, "0:") {
		if real, err := h.Real("/sys/dev/block/" + m.device); err == nil && h.IsDir(real) {
			return path.Base(real)
		}
		return path.Base(m.source)
	}
	if strings.HasPrefix(m.source, "/dev/") && m.fstype == "btrfs" {
		return sourceName(h, strings.TrimPrefix(m.source, "/dev/"))
	}
	return ""
}

// sourceName finds the device of a file system with a device number of its own (btrfs) by the name it was mounted from.
func sourceName(h host.Host, name string) string {
	if mapped, ok := strings.CutPrefix(name, "mapper/"); ok {
		for _, dm := range h.Match("/sys/block", "dm-*") {
			if text, err := h.Text(dm + "/dm/name"); err == nil && text == mapped {
				return path.Base(dm)
			}
		}
	}
	if h.IsDir("/sys/class/block/" + path.Base(name)) {
		return path.Base(name)
	}
	return ""
}

// mounted is a mount and the block device below it, "" for a network file system.
type mounted struct {
	mount
	block string
}

// readFilesystems gives every mount on a block device or network file system, once per device.
func readFilesystems(h host.Host) sut.List[sut.Filesystem] {
	text, err := h.Text("/proc/self/mountinfo")
	if err != nil {
		return sut.List[sut.Filesystem]{Unknown: err.Error()}
	}
	list := sut.List[sut.Filesystem]{Items: []sut.Filesystem{}}
	for _, m := range oncePerDevice(h, parseMountinfo(text)) {
		list.Items = append(list.Items, filesystem(h, m.mount, m.block))
	}
	return list
}

// oncePerDevice takes of each device the mount that shows its root, at the shortest path, in the order of the first mounts.
func oncePerDevice(h host.Host, mounts []mount) []mounted {
	var list []mounted
	at := map[string]int{}
	for _, m := range mounts {
		block := blockName(h, m)
		if block == "" && !isNetworkFS(m.fstype) && m.fstype != "zfs" {
			continue
		}
		key := cmp.Or(block, m.fstype+" "+m.source)
		i, seen := at[key]
		switch {
		case !seen:
			at[key] = len(list)
			list = append(list, mounted{m, block})
		case betterMount(m, list[i].mount):
			list[i].mount = m
		}
	}
	return list
}

func betterMount(m, old mount) bool {
	if (m.root == "/") != (old.root == "/") {
		return m.root == "/"
	}
	return len(m.point) < len(old.point)
}

func filesystem(h host.Host, m mount, block string) sut.Filesystem {
	const file = "/proc/self/mountinfo"
	point := host.Anonymous(m.point)
	f := sut.Filesystem{Mount: sut.Known(point, file), FSType: sut.Known(m.fstype, file), Stack: sut.Known([]string{m.fstype}, file)}
	if block != "" {
		f.Stack = sut.Known(append([]string{m.fstype}, stackBelow(h, block, 0)...), file+" and /sys/class/block/"+block)
	}
	size, err := h.Size(m.point)
	if err != nil {
		f.Bytes, f.FreeBytes = sut.Unknown[int64]("%s", err), sut.Unknown[int64]("%s", err)
		return f
	}
	f.Bytes, f.FreeBytes = sut.Known(size.Bytes, "statfs"), sut.Known(size.FreeBytes, "statfs")
	return f
}

// stackBelow names the layers from a block device down to its drives. Layers that repeat, such as the parts of an LVM mirror, are named once.
func stackBelow(h host.Host, name string, depth int) []string {
	dev := "/sys/class/block/" + name
	real, err := h.Real(dev)
	if err != nil || depth > 16 {
		return nil
	}
	if _, err := h.Text(dev + "/partition"); err == nil {
		return stackBelow(h, path.Base(path.Dir(real)), depth+1)
	}
	var layers []string
	if layer := layerOf(h, dev); layer != "" {
		layers = append(layers, layer)
	}
	for _, slave := range h.Match(dev+"/slaves", "*") {
		for _, l := range stackBelow(h, path.Base(slave), depth+1) {
			if !slices.Contains(layers, l) {
				layers = append(layers, l)
			}
		}
	}
	return layers
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

// layerOf names what one block device is.
func layerOf(h host.Host, dev string) string {
	name := path.Base(dev)
	switch {
	case strings.HasPrefix(name, "dm-"):
		uuid, _ := h.Text(dev + "/dm/uuid")
		return mapperLayer(uuid)
	case strings.HasPrefix(name, "md"):
		level, _ := h.Text(dev + "/md/level")
		return cmp.Or(level, "md")
	case strings.HasPrefix(name, "loop"):
		return "loop"
	}
	if kind := driveKind(h, dev); kind.IsKnown() {
		return kind.Value
	}
	return strings.TrimRight(name, "0123456789") // "vda": a disk of unknown kind
}
