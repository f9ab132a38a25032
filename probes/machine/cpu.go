package machine

import (
	"context"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

const cpuDir = "/sys/devices/system/cpu"

// cpuFolder is where the kernel tells of one logical CPU.
type cpuFolder struct {
	number int
	dir    string
}

// cpuFolders gives the folders of all CPUs, also of those off line.
func cpuFolders(h host.Host) []cpuFolder {
	var list []cpuFolder
	for _, dir := range h.Match(cpuDir, "cpu[0-9]*") {
		if n, err := strconv.Atoi(strings.TrimPrefix(dir, cpuDir+"/cpu")); err == nil {
			list = append(list, cpuFolder{n, dir})
		}
	}
	return list
}

// ProbeCPU reads the processors from the kernel's topology; /proc/cpuinfo only names them.
func ProbeCPU(_ context.Context, h host.Host, s *sut.SUT) error {
	info, infoErr := h.Text(cpuinfo)
	blocks := parseCPUInfo(info)
	places, err := readPlaces(h)
	c := &s.CPU
	nameProcessors(h, c, blocks, infoErr, places)
	fillTopology(c, places, err)
	fillSockets(c, readFirmware(h))
	c.NUMANodes = readNodes(h)
	fillSets(h, c)
	fillFrequency(h, c)
	c.IdleStates = readIdleStates(h)
	c.Microcode = eachCPU(blocks, infoErr, "the microcode", cpuBlock.microcode)
	c.Caches = readCaches(h)
	c.TDPW, c.PowerLimitW = readPowercap(h)
	return nil
}

// nameProcessors sets the maker and the model. Intel's hybrid processors have one model and two kinds of core.
func nameProcessors(h host.Host, c *sut.CPU, blocks []cpuBlock, infoErr error, places []cpuPlace) {
	types := readCoreTypes(h, blocks)
	c.Vendor = eachCPU(blocks, infoErr, "the maker", cpuBlock.vendor)
	c.CoreTypes = coreTypeFacts(types, places)
	if models := modelTypes(blocks); len(models) == 1 {
		types = models
	}
	c.Model = modelFact(types, places)
	if !c.Model.IsKnown() && infoErr != nil {
		c.Model = sut.Unknown[string]("%s", infoErr)
	}
}

// fillSets reads which CPUs there are and which the scheduler leaves alone.
func fillSets(h host.Host, c *sut.CPU) {
	c.Online = host.TextFact(h, cpuDir+"/online")
	c.Offline = cpuSet(h, "offline", "no CPU is off line")
	c.Isolated = cpuSet(h, "isolated", "no CPU is isolated")
	c.NoHZFull = cpuSet(h, "nohz_full", "every CPU has its timer tick")
	c.SMT = sut.Convert(host.TextFact(h, cpuDir+"/smt/active"), host.ParseSwitch)
	c.SMTControl = host.TextFact(h, cpuDir+"/smt/control")
}

// cpuSet reads a list of CPUs that is empty on most machines. A kernel built without such a set has no file.
func cpuSet(h host.Host, name, none string) sut.Fact[string] {
	file := cpuDir + "/" + name
	text, err := h.Text(file)
	switch {
	case err == nil && text != "" && text != "(null)":
		return sut.Known(text, file)
	case err == nil, h.Absent(file):
		return sut.NA[string](none)
	}
	return sut.Unknown[string]("%s", err)
}
