package machine

import (
	"fmt"
	"path"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

const edacDir = "/sys/devices/system/edac/mc"

// readEDAC sums the errors that all memory controllers count.
func readEDAC(h host.Host) sut.EDAC {
	controllers := h.Match(edacDir, "mc[0-9]*")
	if len(controllers) == 0 {
		why := edacDir + " has no memory controller: no EDAC driver is loaded for this machine"
		if _, err := h.List(edacDir); err != nil {
			why = err.Error() + ": no EDAC driver is loaded"
		}
		return sut.EDAC{Controllers: sut.Unknown[int]("%s", why), Correctable: sut.Unknown[int64]("%s", why), Uncorrectable: sut.Unknown[int64]("%s", why)}
	}
	return sut.EDAC{
		Controllers: sut.Known(len(controllers), edacDir),
		Correctable: sumCounts(h, controllers, "ce_count"), Uncorrectable: sumCounts(h, controllers, "ue_count"),
	}
}

// sumCounts is unknown when one of the counters is: a sum that lacks a controller would pass for a healthy one.
func sumCounts(h host.Host, controllers []string, file string) sut.Fact[int64] {
	var sum int64
	for _, mc := range controllers {
		n := host.IntFact[int64](h, mc+"/"+file)
		if !n.IsKnown() {
			return n
		}
		sum += n.Value
	}
	return sut.Known(sum, edacDir+"/mc*/"+file)
}

// edacDIMMs gives what the memory controllers found in their slots; every user may read it. Older drivers call a slot a rank.
func edacDIMMs(h host.Host) []sut.DIMM {
	var dimms []sut.DIMM
	for _, mc := range h.Match(edacDir, "mc[0-9]*") {
		for _, dir := range append(h.Match(mc, "dimm[0-9]*"), h.Match(mc, "rank[0-9]*")...) {
			mib := host.IntFact[int64](h, dir+"/size")
			if !mib.IsKnown() || mib.Value <= 0 {
				continue
			}
			kind, module := edacType(host.TextFact(h, dir+"/dimm_mem_type"))
			dimms = append(dimms, sut.DIMM{
				SizeBytes: sut.Known(mib.Value<<20, mib.Source), Type: kind, Module: module, Slot: edacSlot(h, mc, dir),
			})
		}
	}
	return dimms
}

// edacSlot is the label that a slot was given, else its place.
func edacSlot(h host.Host, mc, dir string) sut.Fact[string] {
	label := host.TextFact(h, dir+"/dimm_label")
	if label.IsKnown() && !strings.HasPrefix(label.Value, "unknown memory") {
		return label
	}
	place := host.TextFact(h, dir+"/dimm_location")
	if place.IsKnown() {
		place.Value = fmt.Sprintf("%s %s", path.Base(mc), place.Value)
	}
	return place
}

// edacType takes "Registered-DDR5" apart.
func edacType(f sut.Fact[string]) (kind, module sut.Fact[string]) {
	words := map[string]string{"Registered": "RDIMM", "Unbuffered": "UDIMM", "Load-Reduced": "LRDIMM", "FullyBuffered": "FB-DIMM"}
	kind = sut.Convert(f, func(s string) (string, error) {
		at := strings.Index(s, "DDR")
		if at < 0 {
			return "", sut.ErrNoValue
		}
		name := strings.TrimSuffix(s[at:], "-RAM")
		if strings.HasPrefix(s, "Low-Power-") {
			name = "LP" + name
		}
		return name, nil
	})
	module = sut.Convert(f, func(s string) (string, error) {
		prefix, _, _ := strings.Cut(s, "-DDR")
		if word := words[prefix]; word != "" {
			return word, nil
		}
		return "", sut.ErrNoValue
	})
	return kind, module
}
