package storage

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"reflect"
	"strings"
	"sync"

	"assay/probes/host"
	"assay/probes/sut"
)

// Probe reads the drives and what is mounted on them.
func Probe(ctx context.Context, h host.Host, s *sut.SUT) error {
	m, err := open(ctx, h)
	if err != nil {
		s.Storage.Devices.Unknown = err.Error()
	} else if m.tree != nil {
		s.Storage.Devices = m.tree.list()
	} else {
		s.Storage.Devices = readDrives(ctx, h)
	}
	s.Storage.Filesystems = m.filesystems(ctx)
	return nil
}

// machine is where block devices are looked up: the kernel's files, or lsblk's output in a capture without them.
type machine struct {
	host.Host
	look lookup
	safe func(string) string // a path as a document may hold it
	tree *blockTree          // nil with the kernel's files
}

func open(ctx context.Context, h host.Host) (machine, error) {
	m := machine{Host: h, look: sysfsDevices(h), safe: h.SafePaths()}
	_, err := h.List(blockDir)
	if err == nil || h.Live {
		return m, err
	}
	tree, failed := readLsblk(ctx, h)
	if failed != nil {
		return m, err
	}
	m.tree = &tree
	m.look = func(name string) (device, bool) {
		d, ok := tree.devices[name]
		return d, ok
	}
	return m, nil
}

// mounted is a file system: the mount that stands for it, the block device below it ("" for a network file system), and every place
// where it is mounted.
type mounted struct {
	mount
	block  string
	points []string
}

// filesystems gives every mount on a block device or network file system, once per device.
func (m machine) filesystems(ctx context.Context) sut.List[sut.Filesystem] {
	mounts, source, err := readMounts(ctx, m.Host)
	if err != nil && m.tree != nil {
		mounts, source, err = m.tree.mounts, "lsblk", nil
	}
	if err != nil {
		return sut.List[sut.Filesystem]{Unknown: err.Error()}
	}
	found := m.oncePerDevice(mounts)
	list := sut.List[sut.Filesystem]{Items: make([]sut.Filesystem, len(found))}
	var sizes sync.WaitGroup // asked side by side: servers of network file systems that hang cost the time of one
	for i, f := range found {
		out := &list.Items[i]
		*out = m.filesystem(ctx, f, source)
		sizes.Go(func() { out.Bytes, out.FreeBytes = m.room(f.point) })
	}
	sizes.Wait()
	return list
}

// oncePerDevice takes of each device the mount that shows its root, at the shortest path, in the order of the first mounts. A root that
// is an overlay, as in a container, is all the room there is.
func (m machine) oncePerDevice(mounts []mount) []mounted {
	var list []mounted
	at := map[string]int{}
	for _, mt := range mounts {
		block := m.blockName(mt)
		if block == "" && !isNetworkFS(mt.fstype) && mt.fstype != "zfs" && (mt.fstype != "overlay" || mt.point != "/") {
			continue
		}
		key := cmp.Or(block, mt.fstype+" "+mt.source)
		i, seen := at[key]
		if !seen {
			at[key] = len(list)
			list = append(list, mounted{mt, block, []string{mt.point}})
			continue
		}
		list[i].points = append(list[i].points, mt.point)
		if betterMount(mt, list[i].mount) {
			list[i].mount = mt
			last := len(list[i].points) - 1
			list[i].points[0], list[i].points[last] = list[i].points[last], list[i].points[0]
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

// blockName gives the kernel's name of the device below a mount ("nvme0n1p2", "dm-0"), "" when it is on none.
func (m machine) blockName(mt mount) string {
	if !strings.HasPrefix(mt.device, "0:") {
		if real, err := m.Real("/sys/dev/block/" + mt.device); err == nil && m.IsDir(real) {
			return path.Base(real)
		}
	}
	name, isDevice := strings.CutPrefix(mt.source, "/dev/")
	if !isDevice || strings.HasPrefix(name, "fuse") {
		return ""
	}
	return cmp.Or(m.sourceName(name), path.Base(name))
}

// sourceName finds a device by the name it was mounted from: btrfs has a device number of its own, and captures may lack /sys/dev.
func (m machine) sourceName(name string) string {
	if mapped, ok := strings.CutPrefix(name, "mapper/"); ok {
		for _, dm := range m.Match(blockDir, "dm-*") {
			if text, err := m.Text(dm + "/dm/name"); err == nil && text == mapped {
				return path.Base(dm)
			}
		}
	}
	if d, ok := m.look(path.Base(name)); ok {
		return d.name
	}
	return ""
}

// filesystem tells all of a file system but its size.
func (m machine) filesystem(ctx context.Context, f mounted, source string) sut.Filesystem {
	out := sut.Filesystem{
		Mount: sut.Known(m.safe(f.point), source), Mounts: sut.Known(m.allSafe(f.points), source), Options: options(f.mount, source),
		FSType: sut.Known(f.fstype, source),
	}
	if f.fstype == "" {
		out.FSType = sut.Unknown[string]("%s names no type of file system for %s", source, out.Mount.Value)
	}
	m.describe(ctx, &out, f, source)
	out.Summary = summary(out)
	return out
}

// describe says what lies below a file system.
func (m machine) describe(ctx context.Context, out *sut.Filesystem, f mounted, source string) {
	fstype := []string{}
	if f.fstype != "" {
		fstype = append(fstype, f.fstype)
	}
	out.Stack = sut.Known(fstype, source)
	d, found := m.look(f.block)
	switch {
	case f.fstype == "zfs":
		m.describePool(ctx, out, f, source)
		return
	case f.fstype == "overlay":
		const why = "the overlay of a container does not show what lies below it"
		out.Device, out.DeviceBytes, out.Drives, out.Degraded = sut.Unknown[string](why), sut.Unknown[int64](why), sut.Unknown[int](why), sut.Unknown[int](why)
		return
	case f.block == "":
		why := f.fstype + " is on no block device of this machine"
		out.Device, out.DeviceBytes, out.Drives, out.Degraded = sut.NA[string](why), sut.NA[int64](why), sut.NA[int](why), sut.NA[int](why)
		return
	case !found:
		why := fmt.Sprintf("there is no /sys/class/block/%s", f.block)
		out.Device, out.DeviceBytes, out.Drives, out.Degraded = sut.Known(f.block, source), sut.Unknown[int64]("%s", why), sut.Unknown[int]("%s", why), sut.Unknown[int]("%s", why)
		return
	}
	members := []string{f.block}
	if f.fstype == "btrfs" {
		members = btrfsMembers(m.Host, f.block)
	}
	where := "/sys/class/block/" + f.block
	if m.tree != nil {
		where = "lsblk"
	}
	b := under(m.look, members...)
	out.Device, out.DeviceBytes = sut.Known(f.block, source), d.bytes
	out.Stack = sut.Known(append(fstype, b.layers...), joined(source, where))
	out.Drives, out.Degraded = b.count(where), b.missing()
}

// describePool says what a ZFS pool is made of.
func (m machine) describePool(ctx context.Context, out *sut.Filesystem, f mounted, source string) {
	const why = "a ZFS pool is no block device"
	out.Device, out.DeviceBytes = sut.NA[string](why), sut.NA[int64](why)
	name, _, _ := strings.Cut(f.source, "/")
	p, err := zfsPool(ctx, m.Host, name)
	if err != nil {
		out.Drives, out.Degraded = sut.Unknown[int]("%s", err), sut.Unknown[int]("%s", err)
		return
	}
	b := under(m.look, p.devices...)
	out.Stack = sut.Known(append(append([]string{"zfs"}, p.layers...), b.layers...), joined(source, "zpool status"))
	out.Drives, out.Degraded = b.count("zpool status"), sut.Unknown[int]("zpool tells the state of its members in words only")
}

// count is how many drives lie below.
func (b below) count(source string) sut.Fact[int] {
	if len(b.drives) == 0 {
		return sut.Unknown[int]("%s leads to no drive", source)
	}
	return sut.Known(len(b.drives), source)
}

func joined(source, where string) string {
	if source == where {
		return source
	}
	return source + " and " + where
}

func (m machine) allSafe(points []string) []string {
	out := make([]string, len(points))
	for i, p := range points {
		out[i] = m.safe(p)
	}
	return out
}

func options(mt mount, source string) sut.Fact[string] {
	if kept := host.SafeMountOptions(mt.options); kept != "" {
		return sut.Known(kept, source)
	}
	return sut.Unknown[string]("%s names no option of the mount", source)
}

// room is the size of a file system and what is free of it.
func (m machine) room(point string) (bytes, free sut.Fact[int64]) {
	if m.tree != nil {
		if size, ok := m.tree.sizes[point]; ok {
			return sut.Known(size.Bytes, "lsblk"), sut.Known(size.FreeBytes, "lsblk")
		}
	}
	size, err := m.Size(point)
	if err != nil {
		return sut.Unknown[int64]("%s", err), sut.Unknown[int64]("%s", err)
	}
	return sut.Known(size.Bytes, "statfs"), sut.Known(size.FreeBytes, "statfs")
}

// list is the drives, with what lsblk does not tell.
func (t blockTree) list() sut.List[sut.Drive] {
	list := sut.List[sut.Drive]{Items: []sut.Drive{}}
	for _, d := range t.drives {
		sut.GiveReason(reflect.ValueOf(&d).Elem(), "lsblk does not tell it")
		list.Items = append(list.Items, d)
	}
	return list
}
