package check

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

// Change is something about the machine that is not as it was before.
type Change struct {
	Code     string `json:"code"` // "power_cap", "driver", "gpu_count", …
	Text     string `json:"text"`
	Evidence string `json:"evidence"` // the path in the SUT document with both values
}

// Kind says what a change is.
type Kind int

// The kinds of change: Moved is another state of the machine, Happened an event between the two looks, Listed what is worth a line and
// spoils nothing.
const (
	Moved Kind = iota
	Happened
	Listed
)

// Kind tells what a change means for what was measured between the two looks: it stays good when the change is only Listed.
func (c Change) Kind() Kind {
	switch c.Code {
	case "not_seen", "throttle_power", "memory_corrected", "pcie_errors":
		return Listed
	case "process", "throttle", "gpu_errors", "memory_errors", "kernel_log", "link_downed", "vram_leak":
		return Happened
	}
	return Moved
}

// watch says which facts must stay as they are. What moves by itself (free space, load, clocks and the rate of a PCIe link, which an idle
// device lowers to save power) is not watched.
type watch struct {
	path *regexp.Regexp
	code string
	what string
}

func watches() []watch {
	list := []watch{}
	for _, w := range [][3]string{
		{`accelerators\[.+\]\.(power_cap_w|power_default_w|module_power_cap_w)`, "power_cap", "a power limit"},
		{`accelerators\[.+\]\.driver_version`, "driver", "the GPU driver"},
		{`accelerators\[.+\]\.(vbios|ifwi|firmware\[.+\]\.version)`, "vbios", "GPU firmware"},
		{`accelerators\[.+\]\.link\.(width|max_gts|max_width)`, "link", "a PCIe link"},
		{`accelerators\[.+\]\.(perf_level|clocks\.(gfx_max_mhz|mem_max_mhz|app_gfx_mhz|app_mem_mhz))`, "clocks", "what the clocks of a GPU are held to"},
		{`accelerators\[.+\]\.partition\.(compute|memory|count)`, "partition", "how a GPU is divided"},
		{`accelerators\[.+\]\.(ecc|persistence|compute_mode)`, "gpu_mode", "a GPU mode"},
		{`accelerators\[.+\]\.(vram_bytes|compute_units|serial_hash|name)`, "gpu", "a GPU"},
		{`accelerators\[.+\]\.(ras\.(bad_pages|pending_pages|remap_failed|recovery_action))`, "gpu_pages", "the health of a GPU's memory"},
		{`accelerators\[.+\]\.(xgmi_peers|nvlinks|fabric\.(links_up|links_down|state))|interconnect\.(kind|hives)`, "interconnect", "links between GPUs"},
		{`system\.(bios\.version|product|virtualization)`, "system", "the machine"},
		{`cpu\.(model|sockets|cores_per_socket|threads_per_core|smt|online|boost|limit_mhz)`, "cpu", "the processors"},
		{`cpu\.(governor|epp)`, "governor", "the CPU frequency governor"},
		{`memory\.(bytes|installed_bytes)`, "memory", "the memory"},
		{`network\.(interfaces|infiniband)\[.+\]\.(rate_gbps|speed_mbps|state|up)`, "network", "a network link"},
		{`storage\.filesystems\[.+\]\.(degraded|stack)`, "storage", "what lies below a file system"},
		{`os\.kernel`, "kernel", "the kernel"},
		{`os\.boot_hash`, "boot", "the boot"},
		{`os\.(distro|cmdline)`, "os", "the operating system"},
		{`os\.tuning\.[a-z_]+`, "tuning", "a kernel setting"},
		{`software\.[a-z_.]+`, "software", "host software"},
	} {
		list = append(list, watch{regexp.MustCompile("^(" + w[0] + ")$"), w[1], w[2]})
	}
	return list
}

// Drift compares two SUTs of one machine: what was changed, what happened in between, and what was known before and could not be read
// again, which is no change.
func Drift(before, after sut.SUT) []Change {
	old, now := flatten(before), flatten(after)
	changes, lost := countChange(before, after)
	list, unseen := watches(), []string{}
	passed := softLinks(before)
	for _, key := range lost {
		passed = append(passed, "accelerators["+key+"]")
	}
	changes = slices.Concat([]Change{}, changes)
	for _, path := range sortedPaths(old) {
		i := slices.IndexFunc(list, func(w watch) bool { return w.path.MatchString(path) })
		was, is := old[path], now[path]
		switch {
		case i < 0 || !was.known || slices.ContainsFunc(passed, func(part string) bool { return strings.HasPrefix(path, part) }):
		case !is.known:
			unseen = append(unseen, path)
		case is.text != was.text:
			text := fmt.Sprintf("During the run %s changed: %s was %s and is %s.", list[i].what, path, was.text, is.text)
			changes = append(changes, Change{list[i].code, text, fmt.Sprintf("%s: %s → %s", path, was.text, is.text)})
		}
	}
	return append(append(changes, happened(before, after)...), notSeen(unseen, now)...)
}

// softLinks are the interfaces without a device of their own, such as a container engine's bridge: they go up and down with what is started.
func softLinks(s sut.SUT) (paths []string) {
	for _, n := range s.Network.Interfaces.Items {
		if kind := n.Kind.Value; kind == "virtual" || kind == "bridge" {
			paths = append(paths, "network.interfaces["+n.Name.Value+"].")
		}
	}
	return paths
}

// lostGPUs tells of GPUs that answered before, and whose driver or tool refuses them now. Its words say what happened; the caller passes over their facts.
func lostGPUs(before, after sut.SUT) (changes []Change, lost []string) {
	old := answering(before)
	for i, a := range after.Accelerators.Items {
		key := deviceKey(i, a)
		if usable, told := a.Usable.Get(); told && !usable && slices.Contains(old, key) {
			lost = append(lost, key)
			changes = append(changes, Change{"gpu_lost", "A GPU that answered before does not answer any more: " + key + ".", fmt.Sprintf("accelerators[%s].usable: true → false: %s", key, a.Usable.Source)})
		}
	}
	return changes, lost
}

// countChange tells of GPUs that are gone, which it names beside those that are lost, and of new ones. Where none answers, or the list could
// not be read, it is the reading that failed, and that says nothing of them.
func countChange(before, after sut.SUT) (changes []Change, lost []string) {
	changes, lost = lostGPUs(before, after)
	old, now := answering(before), answering(after)
	if isBlind(before) || isBlind(after) {
		return changes, lost
	}
	var moved []string
	for _, key := range old {
		if !slices.Contains(now, key) && !slices.Contains(lost, key) {
			moved, lost = append(moved, "without "+key), append(lost, key)
		}
	}
	for _, key := range now {
		if !slices.Contains(old, key) {
			moved = append(moved, "with "+key)
		}
	}
	if len(moved) == 0 {
		return changes, lost
	}
	text := fmt.Sprintf("There were %d GPUs, now there are %d.", len(old), len(now))
	return append(changes, Change{"gpu_count", text, fmt.Sprintf("accelerators: %d → %d, %s", len(old), len(now), strings.Join(moved, ", "))}), lost
}

// isBlind tells of a look that saw nothing of GPUs which are there, or may be.
func isBlind(s sut.SUT) bool {
	return s.Accelerators.Unknown != "" || len(s.Accelerators.Items) > 0 && len(answering(s)) == 0
}

// answering gives the keys of the GPUs that answer.
func answering(s sut.SUT) []string {
	var list []string
	for i, a := range s.Accelerators.Items {
		if answers(a) {
			list = append(list, deviceKey(i, a))
		}
	}
	return list
}

// notSeen is one change for all that could not be read again.
func notSeen(paths []string, now map[string]leaf) []Change {
	if len(paths) == 0 {
		return nil
	}
	const shown = 5
	evidence := slices.Clone(paths[:min(shown, len(paths))])
	for i, p := range evidence {
		list, _, _ := strings.Cut(p, "[")
		evidence[i] = p + ": " + cmp.Or(now[p].text, now[list].text, "it is not there any more")
	}
	if more := len(paths) - shown; more > 0 {
		evidence = append(evidence, fmt.Sprintf("and %d more", more))
	}
	text := fmt.Sprintf("%d facts that were known before could not be read again; whether they changed is not known.", len(paths))
	return []Change{{"not_seen", text, strings.Join(evidence, "; ")}}
}

func sortedPaths(m map[string]leaf) []string {
	paths := make([]string, 0, len(m))
	for p := range m {
		paths = append(paths, p)
	}
	slices.SortFunc(paths, func(a, b string) int {
		switch {
		case host.NaturalLess(a, b):
			return -1
		case host.NaturalLess(b, a):
			return 1
		}
		return strings.Compare(a, b)
	})
	return paths
}
