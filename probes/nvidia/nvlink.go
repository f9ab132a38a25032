package nvidia

import (
	"strings"

	"assay/probes/sut"
)

// deviceLinks is what `nvidia-smi nvlink -s` says of one GPU.
type deviceLinks struct {
	uuid     string
	up, down sut.Fact[int]
	gbps     sut.Fact[float64] // of the slowest active link
}

const nvlinkSource = "nvidia-smi nvlink -s"

// parseNVLinks counts the links of each GPU in `nvidia-smi nvlink -s`, in its order; unknown where the tool does not say.
func parseNVLinks(text string) []deviceLinks {
	var list []deviceLinks
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "GPU ") {
			d := deviceLinks{uuid: uuidOf(line)}
			d.none(nvlinkSource + " lists no link")
			list = append(list, d)
			continue
		}
		if len(list) > 0 && line != "" {
			list[len(list)-1].read(line)
		}
	}
	return list
}

func (d *deviceLinks) none(why string) {
	d.up, d.down, d.gbps = sut.Unknown[int]("%s", why), sut.Unknown[int]("%s", why), sut.Unknown[float64]("%s", why)
}

// read reads a line below a GPU's: "Link 0: 26.562 GB/s", "Link 1: <inactive>", or why there are no links.
func (d *deviceLinks) read(line string) {
	_, state, isLink := strings.Cut(line, ": ")
	switch {
	case strings.HasPrefix(line, "Link ") && isLink:
		d.link(strings.TrimSpace(state))
	case strings.Contains(line, "does not have or support"):
		d.up, d.down = sut.Known(0, nvlinkSource), sut.Known(0, nvlinkSource)
		d.gbps = sut.NA[float64]("the device has no NVLink")
	case !d.up.IsKnown():
		d.none(nvlinkSource + " says \"" + firstLine(line) + "\"")
	}
}

func (d *deviceLinks) link(state string) {
	if !d.up.IsKnown() {
		d.up, d.down = sut.Known(0, nvlinkSource), sut.Known(0, nvlinkSource)
		d.gbps = sut.Unknown[float64]("no link is active")
	}
	bytes, ok := strings.CutSuffix(state, " GB/s")
	rate, err := number(bytes)
	if !ok || err != nil || rate == 0 {
		d.down.Value++
		return
	}
	d.up.Value++
	if rate *= 8; !d.gbps.IsKnown() || rate < d.gbps.Value {
		d.gbps = sut.Known(rate, nvlinkSource)
	}
}

// uuidOf gives the UUID of "GPU 0: NVIDIA A100 (UUID: GPU-…)".
func uuidOf(line string) string {
	_, id, _ := strings.Cut(line, "(UUID: ")
	id, _, _ = strings.Cut(id, ")")
	return id
}
