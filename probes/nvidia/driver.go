package nvidia

import (
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

// driver is the kernel's module: its version, which of the two it is, and what it tells of a device.
type driver struct{ version, kind sut.Fact[string] }

const procDriver = "/proc/driver/nvidia"

// readDriver reads the loaded module.
func readDriver(h host.Host) driver {
	text := host.TextFact(h, procDriver+"/version")
	return driver{
		version: sut.First(sut.Convert(text, moduleVersion), host.TextFact(h, "/sys/module/nvidia/version")),
		kind:    sut.Convert(text, moduleKind),
	}
}

// moduleVersion finds the version in "NVRM version: NVIDIA UNIX x86_64 Kernel Module  590.48.01  Release Build".
func moduleVersion(text string) (string, error) {
	line, _, _ := strings.Cut(text, "\n")
	for field := range strings.FieldsSeq(line) {
		if host.Digits(field) > 1 && strings.Contains(field, ".") {
			return field, nil
		}
	}
	return "", sut.ErrNoValue
}

func moduleKind(text string) (string, error) {
	line, _, _ := strings.Cut(text, "\n")
	switch {
	case strings.Contains(line, "Open Kernel Module"):
		return "open", nil
	case strings.Contains(line, "Kernel Module"):
		return "proprietary", nil
	}
	return "", sut.ErrNoValue
}

// information gives what the module says of a device, "Model" or "Video BIOS". Before the device was used first, parts of it are "??".
func (driver) information(h host.Host, address, key string) sut.Fact[string] {
	name := procDriver + "/gpus/" + address + "/information"
	return sut.Convert(host.TextFact(h, name), func(text string) (string, error) {
		if v := host.KeyValues(text, ":")[key]; isValue(v) && !strings.Contains(v, "??") {
			return v, nil
		}
		return "", sut.ErrNoValue
	})
}

// against holds the version that the tool says against the module's: another one runs until the next start of the machine.
func (d driver) against(said sut.Fact[string]) driver {
	if said.IsKnown() && d.version.IsKnown() && said.Value != d.version.Value {
		said.Other = d.version.Source + " says " + d.version.Value + "; the tool reports what it could talk to"
	}
	d.version = sut.First(said, d.version)
	return d
}
