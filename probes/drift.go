package probes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"assay/probes/host"
)

// Change is something about the machine that is not as it was before.
type Change struct {
	Code     string `json:"code"` // "power_cap", "driver", "gpu_count", …
	Text     string `json:"text"`
	Evidence string `json:"evidence"` // the path in the SUT document with both values
}

// watch says which facts must stay as they are. What moves by itself (free space, processes, throttling, network links) is not watched.
type watch struct {
	path *regexp.Regexp
	code string
	what string
}

func watches() []watch {
	list := []watch{}
	for _, w := range [][3]string{
		{`accelerators\[\d+\]\.pci\.address`, "gpu_order", "the GPU at this place"},
		{`accelerators\[\d+\]\.(power_cap_w|power_default_w|module_power_cap_w)`, "power_cap", "a power limit"},
		{`accelerators\[\d+\]\.driver_version`, "driver", "the GPU driver"},
		{`accelerators\[\d+\]\.(vbios|ifwi)`, "vbios", "GPU firmware"},
		{`accelerators\[\d+\]\.link\.(gts|width|max_gts|max_width)`, "link", "a PCIe link"},
		{`accelerators\[\d+\]\.partition\.(compute|memory|count)`, "partition", "how a GPU is divided"},
		{`accelerators\[\d+\]\.(ecc|persistence)`, "gpu_mode", "a GPU mode"},
		{`accelerators\[\d+\]\.(vram_bytes|compute_units|serial_hash|name)`, "gpu", "a GPU"},
		{`accelerators\[\d+\]\.(xgmi_peers|nvlinks)|interconnect\.(kind|hives)`, "interconnect", "links between GPUs"},
		{`system\.(bios\.version|product|virtualization)`, "system", "the machine"},
		{`cpu\.(model|sockets|cores_per_socket|threads_per_core|smt)`, "cpu", "the processors"},
		{`cpu\.governor`, "governor", "the CPU frequency governor"},
		{`memory\.(bytes|installed_bytes)`, "memory", "the memory"},
		{`os\.kernel`, "kernel", "the kernel"},
		{`os\.(distro|cmdline)`, "os", "the operating system"},
		{`os\.tuning\.[a-z_]+`, "tuning", "a kernel setting"},
		{`software\.[a-z_]+`, "software", "host software"},
	} {
		list = append(list, watch{regexp.MustCompile("^(" + w[0] + ")$"), w[1], w[2]})
	}
	return list
}

// Drift compares two SUTs of one machine.
func Drift(before, after SUT) []Change {
	changes := []Change{}
	if a, b := len(before.Accelerators.Items), len(after.Accelerators.Items); a != b {
		changes = append(changes, Change{"gpu_count", fmt.Sprintf("There were %d GPUs, now there are %d.", a, b), fmt.Sprintf("accelerators: %d → %d", a, b)})
	}
	old, now := flatten(before), flatten(after)
	paths := []string{}
	for p := range old {
		if _, ok := now[p]; ok && old[p] != now[p] {
			paths = append(paths, p)
		}
	}
	slices.SortFunc(paths, func(a, b string) int {
		if host.NaturalLess(a, b) {
			return -1
		}
		return 1
	})
	list := watches()
	for _, p := range paths {
		i := slices.IndexFunc(list, func(w watch) bool { return w.path.MatchString(p) })
		if i >= 0 {
			text := fmt.Sprintf("During the run %s changed: %s was %s and is %s.", list[i].what, p, old[p], now[p])
			changes = append(changes, Change{list[i].code, text, fmt.Sprintf("%s: %s → %s", p, old[p], now[p])})
		}
	}
	return changes
}

// flatten gives every plain value of a SUT by its path; "unknown" where there is none.
func flatten(s SUT) map[string]string {
	out := map[string]string{}
	b, err := Plain(s)
	if err != nil {
		return out
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var doc any
	if d.Decode(&doc) == nil {
		flattenInto(out, "", doc)
	}
	return out
}

func flattenInto(out map[string]string, at string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, kid := range v {
			name := k
			if at != "" {
				name = at + "." + k
			}
			flattenInto(out, name, kid)
		}
	case []any:
		for i, kid := range v {
			flattenInto(out, fmt.Sprintf("%s[%d]", at, i), kid)
		}
	case nil:
		out[at] = "unknown"
	default:
		out[at] = fmt.Sprint(v)
	}
}
