package storage

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"path"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

// blockTree is what lsblk tells of block devices. It is asked only where a capture holds its output and not the kernel's own files.
type blockTree struct {
	devices map[string]device
	drives  []sut.Drive
	mounts  []mount
	sizes   map[string]host.Statfs // of the file systems, by mount point
}

// listed is a device of lsblk's JSON. Older versions print numbers and switches as texts.
type listed struct {
	Name, Type, Model, Vendor, Rev, Tran, Sched, FSType, Mountpoint *string
	KName                                                           *string
	Size, FSSize, FSAvail                                           loose
	Rota                                                            loose
	Mountpoints                                                     []*string
	Children                                                        []listed
}

// loose is a number or switch, written as itself or as a text.
type loose string

// UnmarshalJSON takes both forms.
func (l *loose) UnmarshalJSON(b []byte) error {
	if *l = loose(strings.Trim(string(b), `"`)); *l == "null" {
		*l = ""
	}
	return nil
}

// readLsblk finds the output of lsblk in a capture, however its flags were spelled.
func readLsblk(ctx context.Context, h host.Host) (blockTree, error) {
	for _, flags := range []string{"-OJ", "-JO", "-O -J", "-J", "-b -J", "-Jb", "-bJ", "-O -b -J", "-OJb", "-JOb", "-bOJ"} {
		out, err := h.Run(ctx, append([]string{"lsblk"}, strings.Fields(flags)...)...)
		if err == nil {
			return parseLsblk(out.Stdout)
		}
	}
	return blockTree{}, host.ErrNotFound
}

// parseLsblk reads `lsblk -J`.
func parseLsblk(b []byte) (blockTree, error) {
	var doc struct{ Blockdevices []listed }
	if i := strings.IndexByte(string(b), '{'); i > 0 {
		b = b[i:]
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		return blockTree{}, errors.New("lsblk's output cannot be read")
	}
	t := blockTree{devices: map[string]device{}, sizes: map[string]host.Statfs{}}
	for _, d := range doc.Blockdevices {
		t.add(d, "")
	}
	return t, nil
}

// add takes a device and those made of it. One that has several parents stands below each of them.
func (t *blockTree) add(l listed, parent string) {
	name := l.name()
	d, again := t.devices[name]
	if !again {
		d = device{name: name, layer: l.layer(), bytes: l.Size.bytes(), drive: l.text(l.Type) == "disk", degraded: sut.Unknown[int]("lsblk does not tell whether an array lacks members")}
		d.array = strings.HasPrefix(d.layer, "raid") && d.layer != "raid0"
		t.mount(l, name)
		if d.drive && l.Size != "0" {
			t.drives = append(t.drives, l.drive(name))
		}
	}
	if parent != "" {
		d.below = append(d.below, parent)
	}
	t.devices[name] = d
	for _, child := range l.Children {
		t.add(child, name)
	}
}

func (t *blockTree) mount(l listed, name string) {
	for _, at := range append(l.Mountpoints, l.Mountpoint) {
		point := l.text(at)
		if point == "" || point == "[SWAP]" {
			continue
		}
		t.mounts = append(t.mounts, mount{device: "0:0", root: "/", point: point, fstype: l.text(l.FSType), source: "/dev/" + name})
		size, free := l.FSSize.bytes(), l.FSAvail.bytes()
		if size.IsKnown() && free.IsKnown() {
			t.sizes[point] = host.Statfs{Bytes: size.Value, FreeBytes: free.Value}
		}
	}
}

func (listed) text(s *string) string {
	if s == nil {
		return ""
	}
	return strings.TrimSpace(*s)
}

func (l listed) name() string {
	return path.Base(l.text(l.Name))
}

// layer is the word of layerOf for the same device.
func (l listed) layer() string {
	switch kind := l.text(l.Type); kind {
	case "part":
		return ""
	case "disk":
		medium, _ := l.medium()
		return cmp.Or(medium, unknownDrive)
	case "mpath":
		return "multipath"
	default:
		return kind
	}
}

func (l listed) medium() (kind, why string) {
	return mediumOf(l.name(), l.text(l.Vendor), l.text(l.Model), string(l.Rota))
}

func (l listed) drive(name string) sut.Drive {
	const source = "lsblk"
	say := func(s *string, what string) sut.Fact[string] {
		if text := l.text(s); text != "" {
			return sut.Known(text, source)
		}
		return sut.Unknown[string]("lsblk tells no %s of %s", what, name)
	}
	kind, why := l.medium()
	medium := say(&kind, "kind")
	if why != "" {
		medium = sut.Unknown[string]("%s", why)
	}
	return sut.Drive{
		Name: sut.Known(name, source), Model: say(l.Model, "model"), Bytes: l.Size.bytes(), Kind: medium,
		Firmware: say(l.Rev, "firmware"), Transport: say(l.Tran, "transport"), Scheduler: say(l.Sched, "scheduler"),
	}
}

// bytes reads a size: bytes (-b), or as people read them ("7T").
func (l loose) bytes() sut.Fact[int64] {
	if n, err := strconv.ParseInt(string(l), 10, 64); err == nil && n >= 0 {
		return sut.Known(n, "lsblk")
	}
	if l == "" {
		return sut.Unknown[int64]("lsblk tells no size")
	}
	return sut.Unknown[int64]("lsblk rounded the size to %s", string(l))
}
