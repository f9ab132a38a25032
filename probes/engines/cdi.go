package engines

import (
	"encoding/json"
	"path"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

// readCDI reads the files that tell engines how to hand devices to containers.
func readCDI(h host.Host) sut.List[sut.CDISpec] {
	list := sut.List[sut.CDISpec]{Items: []sut.CDISpec{}}
	for _, dir := range []string{"/etc/cdi", "/var/run/cdi"} {
		names, err := h.List(dir)
		if err != nil && !h.Absent(dir) {
			list.Unknown = err.Error()
		}
		for _, name := range names {
			if ext := path.Ext(name); ext == ".yaml" || ext == ".yml" || ext == ".json" {
				list.Items = append(list.Items, readSpec(h, dir+"/"+name))
			}
		}
	}
	if len(list.Items) > 0 {
		list.Unknown = ""
	}
	return list
}

func readSpec(h host.Host, file string) sut.CDISpec {
	spec := sut.CDISpec{File: sut.Known(file, path.Dir(file))}
	text, err := h.Text(file)
	if err != nil {
		spec.Kind, spec.Devices = sut.Unknown[string]("%s", err), sut.Unknown[int]("%s", err)
		return spec
	}
	kind, devices := parseCDI(text)
	if spec.Kind, spec.Devices = sut.Known(kind, file), sut.Known(devices, file); kind == "" {
		spec.Kind, spec.Devices = sut.Unknown[string]("%s names no kind of device", file), sut.Unknown[int]("%s names no kind of device", file)
	}
	return spec
}

// parseCDI gives the kind of devices and how many a specification names, in JSON or in the YAML that the vendors' tools write: a key at the
// margin, and below "devices:" a dash per device.
func parseCDI(text string) (kind string, devices int) {
	var doc struct {
		Kind    string
		Devices []json.RawMessage
	}
	if json.Unmarshal([]byte(text), &doc) == nil {
		return doc.Kind, len(doc.Devices)
	}
	inside, dash := false, ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \r\n")
		bare := strings.TrimLeft(line, " ")
		margin := line[:len(line)-len(bare)]
		isItem := strings.HasPrefix(bare, "- ")
		switch {
		case bare == "", strings.HasPrefix(bare, "#"), bare == "---":
		case margin == "" && !isItem:
			if value, ok := strings.CutPrefix(line, "kind:"); ok {
				kind = strings.Trim(strings.TrimSpace(value), `"'`)
			}
			inside = line == "devices:"
		case inside && isItem && (devices == 0 || margin == dash):
			dash, devices = margin, devices+1
		}
	}
	return kind, devices
}
