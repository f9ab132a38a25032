package machine

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

const udevDMI = "/run/udev/data/+dmi:id"

// ProbeMemory reads what the kernel has, and what is installed: from udev's record (no root), else from SMBIOS (root).
func ProbeMemory(_ context.Context, h host.Host, s *sut.SUT) error {
	m := &s.Memory
	m.Bytes = sut.Convert(host.TextFact(h, "/proc/meminfo"), func(t string) (int64, error) { return meminfoBytes(t, "MemTotal") })
	dimms, slots, source, err := readDIMMs(h)
	if err != nil {
		m.InstalledBytes, m.Slots, m.Summary = sut.Unknown[int64]("%s", err), sut.Unknown[int]("%s", err), sut.Unknown[string]("%s", err)
		m.DIMMs = sut.List[sut.DIMM]{Unknown: err.Error()}
		return nil
	}
	m.DIMMs, m.Slots = sut.List[sut.DIMM]{Items: dimms}, sut.Known(slots, source)
	m.InstalledBytes = sumDIMMs(dimms, source)
	m.Summary = sut.Known(dimmSummary(dimms), source)
	return nil
}

// meminfoBytes reads a line of /proc/meminfo or of a node's meminfo, whose "kB" are KiB.
func meminfoBytes(text, key string) (int64, error) {
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(line, ":")
		names, values := strings.Fields(name), strings.Fields(value)
		if len(names) == 0 || names[len(names)-1] != key || len(values) == 0 {
			continue
		}
		n, err := strconv.ParseInt(values[0], 10, 64)
		if err != nil || n < 0 || n > 1<<50 {
			return 0, fmt.Errorf("%s of %q", key, line)
		}
		return n << 10, nil
	}
	return 0, fmt.Errorf("no %s", key)
}

func readDIMMs(h host.Host) (dimms []sut.DIMM, slots int, source string, err error) {
	text, udevErr := h.Text(udevDMI)
	if udevErr == nil {
		if dimms, slots = parseUdevDIMMs(text); slots > 0 {
			return dimms, slots, udevDMI, nil
		}
	}
	table := readFirmware(h)
	if table.err != nil {
		return nil, 0, "", fmt.Errorf("%w and no udev record of the DIMMs", table.err)
	}
	if dimms, slots = table.memorySlots(); slots == 0 {
		return nil, 0, "", fmt.Errorf("SMBIOS lists no memory slots")
	}
	return dimms, slots, "SMBIOS type 17", nil
}

// parseUdevDIMMs reads the record that systemd 248 and later make of SMBIOS.
func parseUdevDIMMs(text string) (dimms []sut.DIMM, slots int) {
	env := map[string]string{}
	for line := range strings.Lines(text) {
		if k, v, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "E:"), "="); ok {
			env[k] = v
		}
	}
	slots, _ = strconv.Atoi(env["MEMORY_ARRAY_NUM_DEVICES"])
	for i := range min(slots, 1024) {
		if d, ok := udevDIMM(env, i); ok {
			dimms = append(dimms, d)
		}
	}
	return dimms, slots
}

// udevDIMM reads one slot; false when it is empty.
func udevDIMM(env map[string]string, slot int) (sut.DIMM, bool) {
	key := func(name string) sut.Fact[string] {
		return udevText(env, fmt.Sprintf("MEMORY_DEVICE_%d_%s", slot, name))
	}
	size := sut.Convert(key("SIZE"), func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) })
	if key("PRESENT").Value == "0" || !size.IsKnown() || size.Value <= 0 {
		return sut.DIMM{}, false
	}
	return sut.DIMM{
		SizeBytes: size, Type: key("TYPE"), SpeedMTS: sut.Convert(key("SPEED_MTS"), strconv.Atoi),
		ConfiguredMTS: sut.Convert(key("CONFIGURED_SPEED_MTS"), strconv.Atoi), Slot: key("LOCATOR"),
	}, true
}

func udevText(env map[string]string, name string) sut.Fact[string] {
	if v, err := boardText(env[name]); err == nil {
		return sut.Known(v, udevDMI)
	}
	return sut.Unknown[string]("%s has no %s", udevDMI, name)
}

func sumDIMMs(dimms []sut.DIMM, source string) sut.Fact[int64] {
	var sum int64
	for _, d := range dimms {
		if !d.SizeBytes.IsKnown() {
			return sut.Unknown[int64]("the size of a DIMM is unknown: %s", d.SizeBytes.Unknown)
		}
		sum += d.SizeBytes.Value
	}
	return sut.Known(sum, source)
}

// dimmSummary writes "32 × 64 GiB DDR5-4800".
func dimmSummary(dimms []sut.DIMM) string {
	if len(dimms) == 0 {
		return "no DIMMs"
	}
	var kinds []string
	count := map[string]int{}
	for _, d := range dimms {
		kind := dimmKind(d)
		if count[kind]++; !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	for i, k := range kinds {
		kinds[i] = fmt.Sprintf("%d × %s", count[k], k)
	}
	return strings.Join(kinds, " + ")
}

// dimmKind writes what is known of "64 GiB DDR5-4800".
func dimmKind(d sut.DIMM) string {
	kind := "memory of unknown type"
	if d.Type.IsKnown() {
		kind = d.Type.Value
	}
	if mts, ok := sut.First(d.ConfiguredMTS, d.SpeedMTS).Get(); ok {
		kind += fmt.Sprintf("-%d", mts)
	}
	if d.SizeBytes.IsKnown() {
		kind = host.SizeText(d.SizeBytes.Value) + " " + kind
	}
	return kind
}
