package gpu

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// cdiDirs are where specifications of the Container Device Interface lie unless an engine names other folders.
func cdiDirs() []string { return []string{"/etc/cdi", "/var/run/cdi"} }

// cdiSpec is what is taken of a specification: a kind such as nvidia.com/gpu, and devices of it.
type cdiSpec struct {
	kind    string
	devices []cdiDevice
}

// cdiDevice is what a container gets under a name, in device files.
type cdiDevice struct {
	name  string
	files []string
}

// full is the name by which an engine is asked.
func (s cdiSpec) full(name string) string { return s.kind + "=" + name }

// readCDI reads the specifications in folders, those of the later folder last. What cannot be read describes nothing.
func readCDI(root string, dirs []string) []cdiSpec {
	if len(dirs) == 0 {
		dirs = cdiDirs()
	}
	var list []cdiSpec
	for _, dir := range dirs {
		for _, file := range glob(filepath.Join(root, dir), "*") {
			if !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(file)) {
				continue
			}
			b, err := os.ReadFile(file)
			if err != nil || len(b) > 4<<20 {
				continue
			}
			if s := parseCDI(b); s.kind != "" {
				list = append(list, s)
			}
		}
	}
	return list
}

// parseCDI reads a specification: JSON, or the YAML that the vendors' tools write.
func parseCDI(b []byte) cdiSpec {
	var doc struct {
		Kind    string
		Devices []struct {
			Name           string
			ContainerEdits struct {
				DeviceNodes []struct{ Path string }
			}
		}
	}
	if json.Unmarshal(b, &doc) != nil {
		return parseCDIYAML(string(b))
	}
	s := cdiSpec{kind: doc.Kind}
	for _, d := range doc.Devices {
		one := cdiDevice{name: d.Name}
		for _, node := range d.ContainerEdits.DeviceNodes {
			one.files = append(one.files, node.Path)
		}
		s.devices = append(s.devices, one)
	}
	return s
}

// parseCDIYAML reads block style: keys at the margin, below "devices:" a dash for each device, one step further in its name, and below that
// the paths of its device files. Paths of mounts and hooks stand under other keys, or do not lie in /dev.
func parseCDIYAML(text string) (s cdiSpec) {
	inside, dash := false, -1
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		margin := len(line) - len(strings.TrimLeft(line, " "))
		item, isItem := strings.CutPrefix(bare, "- ")
		switch {
		case bare == "" || bare == "---" || strings.HasPrefix(bare, "#"):
			continue
		case margin == 0 && !isItem:
			if kind, ok := scalar(bare, "kind"); ok {
				s.kind = kind
			}
			inside, dash = bare == "devices:", -1
			continue
		case !inside:
			continue
		case isItem && (dash < 0 || margin == dash):
			dash, s.devices = margin, append(s.devices, cdiDevice{})
		}
		if len(s.devices) == 0 {
			continue
		}
		if isItem {
			bare, margin = strings.TrimSpace(item), margin+len("- ")
		}
		d := &s.devices[len(s.devices)-1]
		if name, ok := scalar(bare, "name"); ok && margin == dash+len("- ") {
			d.name = name
		}
		if file, ok := scalar(bare, "path"); ok && strings.HasPrefix(file, "/dev/") {
			d.files = append(d.files, file)
		}
	}
	return s
}

// scalar is the value of "key: value", which may stand in quotes.
func scalar(line, key string) (string, bool) {
	value, ok := strings.CutPrefix(line, key+":")
	if !ok {
		return "", false
	}
	return strings.Trim(strings.TrimSpace(value), `"'`), true
}

// cdiNames are the names under which specifications describe the chosen devices and no others; false when one is not described.
func (c Choice) cdiNames(specs []cdiSpec) ([]string, bool) {
	var names []string
	if c.unlisted {
		return nil, false
	}
	for _, part := range c.Parts {
		name, ok := named(specs, part)
		if !ok {
			return nil, false
		}
		names = append(names, name)
	}
	for _, d := range c.Devices {
		found, ok := d.cdiNames(specs)
		if !ok {
			return nil, false
		}
		names = append(names, found...)
	}
	return names, len(names) > 0
}

// cdiNames are those of a device: its UUID, else the names that have its own files and no other device's.
func (d Device) cdiNames(specs []cdiSpec) ([]string, bool) {
	if d.Vendor == NVIDIA && d.UUID != "" {
		if name, ok := named(specs, d.UUID); ok {
			return []string{name}, true
		}
	}
	for _, s := range specs {
		var names, covered []string
		for _, one := range s.devices {
			own := slices.DeleteFunc(slices.Clone(one.files), func(file string) bool { return !TellsDevices(d.Vendor, file) })
			fits := len(own) > 0 && !slices.ContainsFunc(own, func(file string) bool { return !slices.Contains(d.Files, file) || slices.Contains(covered, file) })
			if fits {
				names, covered = append(names, s.full(one.name)), append(covered, own...)
			}
		}
		if len(covered) > 0 && len(covered) == len(d.Files) {
			return names, true
		}
	}
	return nil, false
}

// TellsDevices tells of a file of a vendor whether one device has it alone, unlike /dev/kfd or /dev/nvidiactl.
func TellsDevices(vendor, file string) bool {
	if vendor == AMD {
		return strings.HasPrefix(file, "/dev/dri/renderD")
	}
	number, ok := strings.CutPrefix(file, "/dev/nvidia")
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}

func named(specs []cdiSpec, name string) (string, bool) {
	for _, s := range specs {
		if slices.ContainsFunc(s.devices, func(d cdiDevice) bool { return d.name == name }) {
			return s.full(name), true
		}
	}
	return "", false
}
