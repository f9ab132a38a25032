package amd

import (
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

// mostBytes is more memory than a device has, 64 TiB.
const mostBytes = 64 << 40

// bytes refuses what cannot be an amount of memory.
func bytes(n int64) (int64, error) {
	if n < 0 || n > mostBytes || n == math.MaxUint32 {
		return 0, sut.ErrNoValue
	}
	return n, nil
}

func (g gpu) vramUsed() sut.Fact[int64] {
	return sut.Convert(host.IntFact[int64](g.h, g.file("mem_info_vram_used")), bytes)
}

// vram is the memory of the whole device. What a processor with a GPU calls its own is a part of the system's memory that it was set
// aside; the compute driver tells what it can use.
func (g gpu) vram() sut.Fact[int64] {
	driver := sut.Convert(host.IntFact[int64](g.h, g.file("mem_info_vram_total")), func(n int64) (int64, error) {
		if n == 0 {
			return 0, sut.ErrNoValue
		}
		return bytes(n)
	})
	compute := sut.Unknown[int64]("%s", g.unlisted())
	if g.kfd != nil {
		compute = g.kfd.vram(g.product.gib << 30)
	}
	if g.product.unified || g.isAPU() {
		return either(compute, driver)
	}
	return either(driver, compute)
}

func (g gpu) unified() sut.Fact[bool] {
	return sut.Convert(g.kind(), func(kind string) (bool, error) { return kind == "integrated", nil })
}

func (g gpu) memoryType() sut.Fact[string] {
	if g.product.memory != "" {
		return sut.Known(g.product.memory, g.byTable())
	}
	return sut.Unknown[string]("no file of the driver tells it, and the table of products does not have the PCI device id")
}

func (g gpu) memoryVendor() sut.Fact[string] {
	return g.told("mem_info_vram_vendor")
}

// ecc reads whether RAS watches the memory controller (bit 0 of the features).
func (g gpu) ecc() sut.Fact[bool] {
	return sut.Convert(g.waking("ras/features"), func(s string) (bool, error) {
		_, hex, ok := strings.Cut(s, "0x")
		if !ok {
			return false, sut.ErrNoValue
		}
		mask, err := strconv.ParseUint(strings.Fields(hex + " ")[0], 16, 64)
		if mask == math.MaxUint32 {
			err = sut.ErrNoValue
		}
		return mask&1 == 1, err
	})
}

// errorCount is what one block of the device counted.
type errorCount struct{ correctable, uncorrectable int64 }

// parseErrorCount reads "ue: 0" and "ce: 3", each on a line of its own.
func parseErrorCount(text string) (errorCount, error) {
	values := host.KeyValues(text, ":")
	ue, err := strconv.ParseUint(values["ue"], 10, 63)
	if err != nil {
		return errorCount{}, sut.ErrNoValue
	}
	ce, err := strconv.ParseUint(values["ce"], 10, 63)
	if err != nil {
		return errorCount{}, sut.ErrNoValue
	}
	return errorCount{int64(ce), int64(ue)}, nil
}

// ras sums the errors of the blocks that tell them, and counts the pages of memory that were taken out of use. The file of XGMI errors
// is not asked, since new devices refuse it: the block of the links counts them.
func (g gpu) ras() sut.RAS {
	r := g.badPages()
	blocks := g.h.Match(g.file("ras"), "*_err_count")
	if g.asleep != "" || len(blocks) == 0 {
		why := g.asleep
		if why == "" {
			why = g.file("ras") + " holds no counters"
		}
		r.Correctable, r.Uncorrectable, r.FabricUncorrectable = sut.Unknown[int64]("%s", why), sut.Unknown[int64]("%s", why), sut.Unknown[int64]("%s", why)
		return r
	}
	const links = "xgmi_wafl_err_count"
	r.FabricUncorrectable = sut.Unknown[int64]("%s is not there", g.file("ras/"+links))
	var silent []string
	for _, block := range blocks {
		f := sut.Convert(host.TextFact(g.h, block), parseErrorCount)
		if !f.IsKnown() {
			silent = append(silent, f.Unknown)
		}
		if path.Base(block) == links {
			r.FabricUncorrectable = sut.Convert(f, func(c errorCount) (int64, error) { return c.uncorrectable, nil })
		}
		if f.IsKnown() {
			r.Correctable = sut.Known(r.Correctable.Value+f.Value.correctable, g.file("ras"))
			r.Uncorrectable = sut.Known(r.Uncorrectable.Value+f.Value.uncorrectable, g.file("ras"))
		}
	}
	note := strings.Join(silent, "; ")
	if !r.Correctable.IsKnown() {
		r.Correctable, r.Uncorrectable = sut.Unknown[int64]("%s", note), sut.Unknown[int64]("%s", note)
		return r
	}
	r.Correctable.Other, r.Uncorrectable.Other = note, note
	return r
}

// badPages reads the list of pages: "address : size : flag" with R for one out of use, P for one that will be at the next start, F for
// one that could not be taken out of use.
func (g gpu) badPages() sut.RAS {
	source := g.file("ras/gpu_vram_bad_pages")
	flags := map[string]int{}
	text, err := g.h.Text(source)
	if err == nil {
		flags, err = pageFlags(source, text)
	}
	if err != nil {
		return sut.RAS{BadPages: sut.Unknown[int]("%s", err), PendingPages: sut.Unknown[int]("%s", err), RemapFailed: sut.Unknown[bool]("%s", err)}
	}
	return sut.RAS{BadPages: sut.Known(flags["R"], source), PendingPages: sut.Known(flags["P"], source), RemapFailed: sut.Known(flags["F"] > 0, source)}
}

// pageFlags counts the pages by their flag. An empty list is one of no pages.
func pageFlags(source, text string) (map[string]int, error) {
	flags := map[string]int{}
	for line := range strings.Lines(text) {
		parts := strings.Split(line, ":")
		if len(parts) != 3 {
			return nil, fmt.Errorf("%s reads %q, which is no page", source, strings.TrimSpace(line))
		}
		flags[strings.TrimSpace(parts[2])]++
	}
	return flags, nil
}
