package probes

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const udevDMI = "/run/udev/data/+dmi:id"

// probeMemory reads what the kernel has, and what is installed: from udev's record (no root), else from SMBIOS (root).
func probeMemory(_ context.Context, h Host, s *SUT) error {
	m := &s.Memory
	m.Bytes = convert(textFact(h, "/proc/meminfo"), func(t string) (int64, error) { return meminfoBytes(t, "MemTotal") })
	dimms, slots, source, err := readDIMMs(h)
	if err != nil {
		m.InstalledBytes, m.Slots, m.Summary = Unknown[int64]("%s", err), Unknown[int]("%s", err), Unknown[string]("%s", err)
		m.DIMMs = List[DIMM]{Unknown: err.Error()}
		return nil
	}
	m.DIMMs, m.Slots = List[DIMM]{Items: dimms}, Known(slots, source)
	m.InstalledBytes = sumDIMMs(dimms, source)
	m.Summary = Known(dimmSummary(dimms), source)
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

func readDIMMs(h Host) (dimms []DIMM, slots int, source string, err error) {
	text, udevErr := h.text(udevDMI)
	if udevErr == nil {
		if dimms, slots = parseUdevDIMMs(text); slots > 0 {
			return dimms, slots, udevDMI, nil
		}
	}
	table := smbiosTable(h)
	if table.err != nil {
		return nil, 0, "", fmt.Errorf("%s and no udev record of the DIMMs", table.err)
	}
	if dimms, slots = table.memorySlots(); slots == 0 {
		return nil, 0, "", fmt.Errorf("SMBIOS lists no memory slots")
	}
	return dimms, slots, "SMBIOS type 17", nil
}

// parseUdevDIMMs reads the record that systemd 248 and later make of SMBIOS.
func parseUdevDIMMs(text string) (dimms []DIMM, slots int) {
	env := map[string]string{}
	for line := range strings.Lines(text) {
		if k, v, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "E:"), "="); ok {
			env[k] = v
		}
	}
	slots, _ = strconv.Atoi(env["MEMORY_ARRAY_NUM_DEVICES"])
	for i := range min(slots, 1024) {
		key := func(name string) Fact[string] {
			name = fmt.Sprintf("MEMORY_DEVICE_%d_%s", i, name)
			if v, err := boardText(env[name]); err == nil {
				return Known(v, udevDMI)
			}
			return Unknown[string]("%s has no %s", udevDMI, name)
		}
		size := convert(key("SIZE"), func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) })
		if key("PRESENT").Value == "0" || !size.IsKnown() || size.Value == 0 {
			continue
		}
		dimms = append(dimms, DIMM{
			SizeBytes: size, Type: key("TYPE"), SpeedMTS: convert(key("SPEED_MTS"), atoi),
			ConfiguredMTS: convert(key("CONFIGURED_SPEED_MTS"), atoi), Slot: key("LOCATOR"),
		})
	}
	return dimms, slots
}

func atoi(s string) (int, error) { return strconv.Atoi(s) }

func sumDIMMs(dimms []DIMM, source string) Fact[int64] {
	var sum int64
	for _, d := range dimms {
		if !d.SizeBytes.IsKnown() {
			return Unknown[int64]("the size of a DIMM is unknown: %s", d.SizeBytes.Unknown)
		}
		sum += d.SizeBytes.Value
	}
	return Known(sum, source)
}

// dimmSummary writes "32 × 64 GiB DDR5-4800".
func dimmSummary(dimms []DIMM) string {
	if len(dimms) == 0 {
		return "no DIMMs"
	}
	var kinds []string
	count := map[string]int{}
	for _, d := range dimms {
		kind := "memory of unknown type"
		if d.Type.IsKnown() {
			kind = d.Type.Value
		}
		if mts, ok := first(d.ConfiguredMTS, d.SpeedMTS).Get(); ok {
			kind += fmt.Sprintf("-%d", mts)
		}
		if d.SizeBytes.IsKnown() {
			kind = sizeText(d.SizeBytes.Value) + " " + kind
		}
		if count[kind]++; !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	for i, k := range kinds {
		kinds[i] = fmt.Sprintf("%d × %s", count[k], k)
	}
	return strings.Join(kinds, " + ")
}

// settleNodes takes the memory of GPUs that appear as NUMA nodes out of the host's memory.
func settleNodes(s *SUT) {
	for _, n := range s.CPU.NUMANodes.Items {
		bytes, ok := n.Bytes.Get()
		if n.Kind.Value == "gpu" && ok && s.Memory.Bytes.IsKnown() {
			s.Memory.Bytes.Value -= bytes
			s.Memory.Bytes.Source += " less " + n.Kind.Source
		}
	}
}
