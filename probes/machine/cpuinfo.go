package machine

import (
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

const cpuinfo = "/proc/cpuinfo"

// cpuBlock is what /proc/cpuinfo says of one logical CPU.
type cpuBlock struct {
	number int
	values map[string]string
}

// parseCPUInfo cuts /proc/cpuinfo into its blocks. What stands before the first processor belongs to none.
func parseCPUInfo(text string) []cpuBlock {
	var blocks []cpuBlock
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(line, ":")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if !ok {
			continue
		}
		if n, err := strconv.Atoi(value); key == "processor" && err == nil {
			blocks = append(blocks, cpuBlock{n, map[string]string{}})
		}
		if len(blocks) > 0 {
			blocks[len(blocks)-1].values[key] = value
		}
	}
	return blocks
}

// model names a CPU: x86 by its model name, Arm by its part, POWER by its cpu line. "" when nothing does.
func (b cpuBlock) model() string {
	if name := b.values["model name"]; name != "" && b.values["CPU part"] == "" {
		return name
	}
	if name := armPart(b.values["CPU implementer"], b.values["CPU part"]); name != "" {
		return name
	}
	name, _, _ := strings.Cut(b.values["cpu"], ",") // "POWER9, altivec supported"
	return name
}

func (b cpuBlock) vendor() string {
	if v := b.values["vendor_id"]; v != "" {
		return v
	}
	return armImplementer(b.values["CPU implementer"])
}

func (b cpuBlock) microcode() string { return b.values["microcode"] }

// eachCPU gives what is said of all CPUs, with counts when it differs.
func eachCPU(blocks []cpuBlock, infoErr error, what string, read func(cpuBlock) string) sut.Fact[string] {
	var values []string
	for _, b := range blocks {
		if v := read(b); v != "" {
			values = append(values, v)
		}
	}
	if len(values) > 0 {
		return sut.Known(host.Tally(values), cpuinfo)
	}
	if infoErr != nil {
		return sut.Unknown[string]("%s", infoErr)
	}
	return sut.Unknown[string]("%s does not give %s", cpuinfo, what)
}
