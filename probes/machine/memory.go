package machine

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

// ProbeMemory reads what the kernel has, and what is installed: from udev's record, SMBIOS (root) and the memory controllers.
func ProbeMemory(_ context.Context, h host.Host, s *sut.SUT) error {
	m := &s.Memory
	m.Bytes = sut.Convert(host.TextFact(h, "/proc/meminfo"), func(t string) (int64, error) { return meminfoBytes(t, "MemTotal") })
	m.OnlineBytes = readBlocks(h)
	m.EDAC, m.HugePages, m.CXL = readEDAC(h), readHugePages(h), readCXL(h)
	record, recordErr := h.Text(udevDMI)
	table := readFirmware(h)
	m.ErrorCorrection = sut.First(parseUdev(record).text("MEMORY_ARRAY_EC_TYPE"), table.errorCorrection())
	if recordErr != nil && !m.ErrorCorrection.IsKnown() {
		m.ErrorCorrection = sut.Unknown[string]("%s; %s", recordErr, table.errorCorrection().Reason())
	}
	fillDIMMs(m, inventories(h, parseUdev(record), recordErr, table))
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

// readBlocks sums the memory blocks that are on line: what is installed less what firmware keeps.
func readBlocks(h host.Host) sut.Fact[int64] {
	const dir = "/sys/devices/system/memory"
	size := sut.Convert(host.TextFact(h, dir+"/block_size_bytes"), func(s string) (int64, error) { return strconv.ParseInt(s, 16, 64) })
	if !size.IsKnown() {
		return size
	}
	var online int64
	blocks := h.Match(dir, "memory[0-9]*")
	for _, block := range blocks {
		state, err := h.Text(block + "/state")
		if err != nil {
			return sut.Unknown[int64]("%s", err)
		}
		switch state {
		case "online":
			online++
		case "offline", "going-offline":
		default:
			return sut.Unknown[int64]("%s/state reads %q", block, state)
		}
	}
	if len(blocks) == 0 || size.Value <= 0 || size.Value > 1<<40 {
		return sut.Unknown[int64]("%s has %d blocks of %d bytes", dir, len(blocks), size.Value)
	}
	return sut.Known(online*size.Value, dir+"/memory*/state")
}

// readHugePages gives the pools of pages that the kernel keeps apart.
func readHugePages(h host.Host) sut.List[sut.HugePages] {
	const dir = "/sys/kernel/mm/hugepages"
	if _, err := h.List(dir); err != nil && !h.Absent(dir) {
		return sut.List[sut.HugePages]{Unknown: err.Error()}
	}
	var list sut.List[sut.HugePages]
	for _, pool := range h.Match(dir, "hugepages-*kB") {
		list.Items = append(list.Items, sut.HugePages{
			SizeBytes: sut.Convert(sut.Known(path.Base(pool), dir), hugePageSize),
			Pages:     host.IntFact[int64](h, pool+"/nr_hugepages"), FreePages: host.IntFact[int64](h, pool+"/free_hugepages"),
		})
	}
	return list
}

// hugePageSize reads "hugepages-2048kB".
func hugePageSize(name string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimPrefix(name, "hugepages-"), "kB"), 10, 64)
	if err != nil || n <= 0 || n > 1<<40 {
		return 0, sut.ErrNoValue
	}
	return n << 10, nil
}
