package machine

import (
	"fmt"
	"strconv"
)

// armMaker is who made an Arm core, and the names of its parts.
type armMaker struct {
	name  string
	parts map[int64]string
}

// armMakers are the makers of Arm cores by the implementer's code in MIDR_EL1, with the parts that servers and workstations have.
func armMakers() map[int64]armMaker {
	return map[int64]armMaker{
		0x41: {"ARM", map[int64]string{
			0xd03: "Cortex-A53", 0xd05: "Cortex-A55", 0xd07: "Cortex-A57", 0xd08: "Cortex-A72", 0xd09: "Cortex-A73", 0xd0a: "Cortex-A75", 0xd0b: "Cortex-A76",
			0xd0c: "Neoverse-N1", 0xd0d: "Cortex-A77", 0xd40: "Neoverse-V1", 0xd41: "Cortex-A78", 0xd42: "Cortex-A78AE", 0xd44: "Cortex-X1", 0xd46: "Cortex-A510",
			0xd47: "Cortex-A710", 0xd48: "Cortex-X2", 0xd49: "Neoverse-N2", 0xd4a: "Neoverse-E1", 0xd4d: "Cortex-A715", 0xd4e: "Cortex-X3", 0xd4f: "Neoverse-V2",
			0xd80: "Cortex-A520", 0xd81: "Cortex-A720", 0xd82: "Cortex-X4", 0xd83: "Neoverse-V3AE", 0xd84: "Neoverse-V3", 0xd85: "Cortex-X925", 0xd87: "Cortex-A725",
			0xd8e: "Neoverse-N3",
		}},
		0x42: {"Broadcom", nil},
		0x43: {"Cavium", map[int64]string{0x0a1: "ThunderX-88XX", 0x0af: "ThunderX2-99xx"}},
		0x46: {"FUJITSU", map[int64]string{0x001: "A64FX"}},
		0x48: {"HiSilicon", map[int64]string{0xd01: "TaiShan-v110", 0xd02: "TaiShan-v120"}},
		0x4e: {"NVIDIA", map[int64]string{0x003: "Denver 2", 0x004: "Carmel", 0x010: "Olympus"}},
		0x50: {"APM", nil},
		0x51: {"Qualcomm", map[int64]string{0x001: "Oryon", 0xc00: "Falkor"}},
		0x53: {"Samsung", nil},
		0x56: {"Marvell", nil},
		0x61: {"Apple", nil},
		0x69: {"Intel", nil},
		0x6d: {"Microsoft", map[int64]string{0xd49: "Azure-Cobalt-100"}},
		0xc0: {"Ampere", map[int64]string{0xac3: "Ampere-1", 0xac4: "Ampere-1a", 0xac5: "Ampere-1b"}},
	}
}

// armImplementer names the maker of "0x41"; a code that is not listed names itself.
func armImplementer(code string) string {
	n, err := strconv.ParseInt(code, 0, 64)
	if err != nil {
		return ""
	}
	if m, ok := armMakers()[n]; ok {
		return m.name
	}
	return fmt.Sprintf("implementer 0x%02x", n)
}

// armPart names the core of an implementer and a part as /proc/cpuinfo writes them; a part that is not listed names itself.
func armPart(implementer, part string) string {
	n, err := strconv.ParseInt(part, 0, 64)
	if err != nil {
		return ""
	}
	code, _ := strconv.ParseInt(implementer, 0, 64)
	if name := armMakers()[code].parts[n]; name != "" {
		return name
	}
	return fmt.Sprintf("%s part 0x%03x", armImplementer(implementer), n)
}

// parseMIDR takes implementer and part out of the register MIDR_EL1, "0x00000000410fd871".
func parseMIDR(text string) (implementer, part string, ok bool) {
	v, err := strconv.ParseUint(text, 0, 64)
	if err != nil || v == 0 {
		return "", "", false
	}
	return fmt.Sprintf("0x%02x", v>>24&0xff), fmt.Sprintf("0x%03x", v>>4&0xfff), true
}
