package probes

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// probeStorage reads the drives and what is mounted on them.
func probeStorage(_ context.Context, h Host, s *SUT) error {
	s.Storage = Storage{Devices: readDrives(h), Filesystems: readFilesystems(h)}
	return nil
}

// readDrives gives the physical drives: no loop, RAM, optical, dm or md device, and no hidden path of a multipath NVMe namespace.
func readDrives(h Host) List[Drive] {
	const dir = "/sys/block"
	if _, err := h.list(dir); err != nil {
		return List[Drive]{Unknown: err.Error()}
	}
	virtual := regexp.MustCompile(`^(loop|ram|zram|sr|fd|dm-|md|nbd|rbd|drbd|bcache)\d|^nvme\d+c\d+n`)
	list := List[Drive]{Items: []Drive{}}
	for _, dev := range h.match(dir, "*") {
		bytes := convert(textFact(h, dev+"/size"), sectors)
		if virtual.MatchString(path.Base(dev)) || (bytes.IsKnown() && bytes.Value == 0) {
			continue
		}
		list.Items = append(list.Items, Drive{
			Model: first(textFact(h, dev+"/device/model"), textFact(h, dev+"/device/name")),
			Bytes: bytes, Kind: driveKind(h, dev),
		})
	}
	return list
}

// sectors turns the kernel's count of 512-byte sectors, whatever the block size is, into bytes.
func sectors(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > 1<<50 {
		return 0, errNoValue
	}
	return n * 512, nil
}

func driveKind(h Host, dev string) Fact[string] {
	name := path.Base(dev)
	if strings.HasPrefix(name, "nvme") {
		return Known("nvme", dev)
	}
	if strings.HasPrefix(name, "vd") || strings.HasPrefix(name, "xvd") {
		return Unknown[string]("%s is a virtual disk: only its host knows the drive below", name)
	}
	return convert(textFact(h, dev+"/queue/rotational"), func(s string) (string, error) {
		spins, err := parseSwitch(s)
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

// unescape turns \040 and the like back into characters.
func unescape(s string) string {
	return regexp.MustCompile(`\\[0-7]{3}`).ReplaceAllStringFunc(s, func(o string) string {
		n, err := strconv.ParseUint(o[1:], 8, 8)
		if err != nil {
			return o
		}
		return string([]byte{byte(n)})
	})
}

func isNetworkFS(fstype string) bool {
	names := []string{"nfs", "nfs4", "cifs", "smb3", "ceph", "lustre", "glusterfs", "beegfs", "gpfs", "wekafs", "9p", "virtiofs", "afs", "pvfs2", "daos"}
	return slices.Contains(names, strings.TrimPrefix(fstype, "fuse."))
}

// blockName gives the kernel's name of the device below a mount ("nvme0n1p2", "dm-0"), "" when it is on none.
func blockName(h Host, m mount) string {
	if !strings.HasPrefix(m.device, "0:") {
		if real, err := h.real("/sys/dev/block/" + m.device); err == nil && h.isDir(real) {
			return path.Base(real)
		}
		return path.Base(m.source)
	}
	name, ok := strings.CutPrefix(m.source, "/dev/") // btrfs has a device number of its own
	if !ok || !strings.Contains(m.fstype, "fs") || m.fstype == "devtmpfs" {
		return ""
	}
	if mapped, ok := strings.CutPrefix(name, "mapper/"); ok {
		for _, dm := range h.match("/sys/block", "dm-*") {
			if text, err := h.text(dm + "/dm/name"); err == nil && text == mapped {
				return path.Base(dm)
			}
		}
	}
	if h.isDir("/sys/class/block/" + path.Base(name)) {
		return path.Base(name)
	}
	return ""
}

// readFilesystems gives every mount on a block device or network file system, once per device: the one that shows its root, at the shortest path.
func readFilesystems(h Host) List[Filesystem] {
	const file = "/proc/self/mountinfo"
	text, err := h.text(file)
	if err != nil {
		return List[Filesystem]{Unknown: err.Error()}
	}
	var order []string
	chosen, block := map[string]mount{}, map[string]string{}
	for _, m := range parseMountinfo(text) {
		key := blockName(h, m)
		block[key] = key
		if key == "" {
			if !isNetworkFS(m.fstype) && m.fstype != "zfs" {
				continue
			}
			key = m.fstype + " " + m.source
		}
		old, seen := chosen[key]
		if !seen {
			order = append(order, key)
		}
		if !seen || betterMount(m, old) {
			chosen[key] = m
		}
	}
	list := List[Filesystem]{Items: []Filesystem{}}
	for _, key := range order {
		list.Items = append(list.Items, filesystem(h, chosen[key], block[key]))
	}
	return list
}

func betterMount(m, old mount) bool {
	if (m.root == "/") != (old.root == "/") {
		return m.root == "/"
	}
	return len(m.point) < len(old.point)
}

func filesystem(h Host, m mount, block string) Filesystem {
	const file = "/proc/self/mountinfo"
	point := anonymous(m.point)
	f := Filesystem{Mount: Known(point, file), FSType: Known(m.fstype, file), Stack: Known([]string{m.fstype}, file)}
	if block != "" {
		f.Stack = Known(append([]string{m.fstype}, stackBelow(h, block, 0)...), file+" and /sys/class/block/"+block)
	}
	f.Bytes, f.FreeBytes = Unknown[int64]("the host cannot be asked"), Unknown[int64]("the host cannot be asked")
	if h.Statfs == nil {
		return f
	}
	size, err := h.Statfs(m.point)
	if err != nil {
		f.Bytes, f.FreeBytes = Unknown[int64]("%s", err), Unknown[int64]("%s", err)
		return f
	}
	h.record.size(m.point, size)
	f.Bytes, f.FreeBytes = Known(size.Bytes, "statfs"), Known(size.FreeBytes, "statfs")
	return f
}

// stackBelow names the layers from a block device down to its drives. Layers that repeat, such as the parts of an LVM mirror, are named once.
func stackBelow(h Host, name string, depth int) []string {
	dev := "/sys/class/block/" + name
	real, err := h.real(dev)
	if err != nil || depth > 16 {
		return nil
	}
	if _, err := h.text(dev + "/partition"); err == nil {
		return stackBelow(h, path.Base(path.Dir(real)), depth+1)
	}
	var layers []string
	if layer := layerOf(h, dev); layer != "" {
		layers = append(layers, layer)
	}
	slaves, _ := h.list(dev + "/slaves")
	for _, child := range slaves {
		h.record.entry(h, dev+"/slaves/"+child)
		for _, l := range stackBelow(h, child, depth+1) {
			if !slices.Contains(layers, l) {
				layers = append(layers, l)
			}
		}
	}
	return layers
}

// layerOf names what one block device is.
func layerOf(h Host, dev string) string {
	name := path.Base(dev)
	switch {
	case strings.HasPrefix(name, "dm-"):
		uuid, _ := h.text(dev + "/dm/uuid")
		prefix, _, _ := strings.Cut(uuid, "-")
		names := map[string]string{"LVM": "lvm", "CRYPT": "crypt", "mpath": "multipath", "DMRAID": "dmraid", "VDO": "vdo"}
		if strings.HasPrefix(prefix, "part") {
			return ""
		}
		if n, ok := names[prefix]; ok {
			return n
		}
		return "device-mapper"
	case strings.HasPrefix(name, "md"):
		level, err := h.text(dev + "/md/level")
		if err != nil || level == "" {
			return "md"
		}
		return level
	case strings.HasPrefix(name, "loop"):
		return "loop"
	}
	if kind := driveKind(h, dev); kind.IsKnown() {
		return kind.Value
	}
	return strings.TrimRight(name, "0123456789") // "vda": a disk of unknown kind
}

// sizeOf writes a file system for evidence: "/ 12 GiB free of 250 GiB".
func (f Filesystem) sizeOf() string {
	return fmt.Sprintf("%s %s free of %s", f.Mount.Value, sizeText(f.FreeBytes.Value), sizeText(f.Bytes.Value))
}
