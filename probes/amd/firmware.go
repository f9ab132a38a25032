package amd

import (
	"errors"
	"path"
	"slices"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

// vbios is the part number of the firmware on the board.
func (g gpu) vbios() sut.Fact[string] {
	f := g.told("vbios_version")
	if f.IsKnown() {
		return f
	}
	text, source, err := g.firmwareInfo()
	if err != nil {
		return f
	}
	if _, version := parseFirmwareInfo(text, source); version.IsKnown() {
		return version
	}
	return f
}

// firmware lists what runs on the device's own processors, from the driver's folder, else from the list that root can read. Parts that
// are not loaded have version 0.
func (g gpu) firmware() sut.List[sut.Firmware] {
	list := sut.List[sut.Firmware]{}
	for _, name := range g.h.Match(g.file("fw_version"), "*_fw_version") {
		version := sut.Convert(host.TextFact(g.h, name), word)
		if strings.Trim(version.Value, "0x") == "" && version.IsKnown() {
			continue
		}
		list.Items = append(list.Items, sut.Firmware{Name: sut.Known(strings.TrimSuffix(path.Base(name), "_fw_version"), name), Version: version})
	}
	if len(list.Items) > 0 {
		return list
	}
	text, source, err := g.firmwareInfo()
	if err != nil {
		list.Unknown = g.file("fw_version") + " holds no versions, and " + err.Error()
		return list
	}
	list.Items, _ = parseFirmwareInfo(text, source)
	return list
}

// firmwareInfo is the driver's list for root, by the number of the device's card.
func (g gpu) firmwareInfo() (text, source string, err error) {
	number, isCard := strings.CutPrefix(path.Base(path.Dir(g.place())), "card")
	for _, card := range g.h.Match(g.file("drm"), "card[0-9]*") {
		number, isCard = strings.CutPrefix(path.Base(card), "card")
	}
	if !isCard {
		return "", "", errors.New(g.file("drm") + " names no card, by whose number debugfs would list them")
	}
	source = "/sys/kernel/debug/dri/" + number + "/amdgpu_firmware_info"
	text, err = g.h.Text(source)
	return text, source, err
}

// parseFirmwareInfo reads lines of "SMC feature version: 0, firmware version: 0x001c2800" and "VBIOS version: 113-D0513700-001".
func parseFirmwareInfo(text, source string) (list []sut.Firmware, vbios sut.Fact[string]) {
	vbios = sut.Unknown[string]("%s names no VBIOS", source)
	for line := range strings.Lines(text) {
		if version, ok := strings.CutPrefix(line, "VBIOS version:"); ok && strings.TrimSpace(version) != "" {
			vbios = sut.Known(strings.TrimSpace(version), source)
			continue
		}
		name, rest, ok := strings.Cut(line, " feature version:")
		_, version, found := strings.Cut(rest, "firmware version:")
		version = strings.TrimSpace(version)
		if !ok || !found || strings.Trim(version, "0x") == "" {
			continue
		}
		list = append(list, sut.Firmware{Name: sut.Known(strings.ToLower(strings.TrimSpace(name)), source), Version: sut.Known(version, source)})
	}
	slices.SortStableFunc(list, func(a, b sut.Firmware) int { return strings.Compare(a.Name.Value, b.Name.Value) })
	return list, vbios
}
