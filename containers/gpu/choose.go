package gpu

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay/fault"
)

// Choice is the devices that one set of server.gpus means.
type Choice struct {
	Devices []Device
	Parts   []string // NVIDIA: parts of devices (MIG), by their UUID
	All     bool     // every device of the machine
	None    bool     // no device is to be seen

	here     []Device
	unlisted bool // all, of a machine that has NVIDIA's driver and shows none of its devices on the bus
}

// Choose finds what a set of server.gpus means on the machine below root: all, none, count:N, or a list of indices, ranges, PCI addresses and
// UUIDs. "all" of a machine without accelerators is an empty choice, which the caller judges; anything else that is not there is an error.
func Choose(root, wanted string) (Choice, error) {
	wanted = strings.TrimSpace(wanted)
	here := List(root)
	c := Choice{here: here}
	switch count, isCount := strings.CutPrefix(wanted, "count:"); {
	case wanted == "":
		return c, nil
	case wanted == "none":
		c.None = true
		return c, nil
	case wanted == "all":
		c.Devices, c.All = here, true
		_, err := os.Stat(filepath.Join(root, "dev/nvidiactl"))
		c.unlisted = err == nil && !c.Of(NVIDIA)
	case isCount:
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 {
			return c, invalid(wanted, count)
		}
		if n > len(here) {
			return c, missing(wanted, fmt.Sprintf("%d GPUs", n), here)
		}
		c.Devices = here[:n]
	default:
		for one := range strings.SplitSeq(wanted, ",") {
			if err := c.add(wanted, strings.TrimSpace(one)); err != nil {
				return c, err
			}
		}
	}
	c.All = c.All || len(c.Devices) == len(here)
	return c, c.whole(root)
}

// add takes one word of a list.
func (c *Choice) add(wanted, one string) error {
	address := regexp.MustCompile(`^(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}:[0-9a-f]{2}\.[0-7])$`)
	lower := strings.ToLower(one)
	switch at := address.FindStringSubmatch(lower); {
	case strings.HasPrefix(one, "MIG-"):
		if !slices.ContainsFunc(c.here, func(d Device) bool { return d.Vendor == NVIDIA }) {
			return missing(wanted, one, c.here)
		}
		if slices.Contains(c.Parts, one) {
			return twice(wanted, one)
		}
		c.Parts = append(c.Parts, one)
		return nil
	case strings.HasPrefix(one, "GPU-"):
		return c.take(wanted, one, func(d Device) bool { return strings.EqualFold(d.UUID, one) })
	case at != nil:
		domain, err := strconv.ParseUint("0"+at[1], 16, 32)
		if err != nil {
			return invalid(wanted, one)
		}
		return c.take(wanted, one, func(d Device) bool { return d.PCI == fmt.Sprintf("%04x:%s", domain, at[2]) })
	}
	first, last, err := span(one)
	if err != nil {
		return invalid(wanted, one)
	}
	for i := first; i <= last; i++ {
		if err := c.take(wanted, fmt.Sprintf("GPU %d", i), func(d Device) bool { return d.Index == i }); err != nil {
			return err
		}
	}
	return nil
}

// span reads "3" or "0-3".
func span(text string) (first, last int, err error) {
	a, b, isRange := strings.Cut(text, "-")
	if first, err = strconv.Atoi(a); err != nil || !isRange {
		return first, first, err
	}
	last, err = strconv.Atoi(b)
	if err == nil && (last < first || last-first >= 1024) {
		err = strconv.ErrRange
	}
	return first, last, err
}

func (c *Choice) take(wanted, what string, is func(Device) bool) error {
	i := slices.IndexFunc(c.here, is)
	if i < 0 {
		return missing(wanted, what, c.here)
	}
	if slices.ContainsFunc(c.Devices, func(d Device) bool { return d.PCI == c.here[i].PCI }) {
		return twice(wanted, what)
	}
	c.Devices = append(c.Devices, c.here[i])
	return nil
}

// whole makes sure that all partitions of the chosen AMD devices are known. Those beyond the first of each device are found by the compute
// driver's topology; where that cannot be read, only all devices together, or the one there is, have the rest.
func (c *Choice) whole(root string) error {
	var known []string
	cards := 0
	for _, d := range c.here {
		if d.Vendor == AMD {
			cards, known = cards+1, append(known, d.Files...)
		}
	}
	var strays []string
	for _, node := range partitionNodes(root) {
		if !slices.Contains(known, node) {
			strays = append(strays, node)
		}
	}
	chosen := slices.IndexFunc(c.Devices, func(d Device) bool { return d.Vendor == AMD })
	if len(strays) == 0 || chosen < 0 {
		return nil
	}
	if !c.All && cards > 1 {
		return fault.New(fault.Preflight, "gpu_partitions", "let assay read /sys/class/kfd, or write server.gpus: all",
			"the GPUs are divided, and which of them %s belongs to is not told: the compute driver's topology cannot be read", strings.Join(strays, ", "))
	}
	c.Devices = slices.Clone(c.Devices)
	c.Devices[chosen].Files = slices.Concat(c.Devices[chosen].Files, strays)
	return nil
}

// NUMANodes are the memory nodes of the chosen devices, each once and in order.
func (c Choice) NUMANodes() []int {
	var nodes []int
	for _, d := range c.Devices {
		if d.NUMANode >= 0 && !slices.Contains(nodes, d.NUMANode) {
			nodes = append(nodes, d.NUMANode)
		}
	}
	slices.Sort(nodes)
	return nodes
}

// Of tells whether a device of the vendor is chosen.
func (c Choice) Of(vendor string) bool {
	return slices.ContainsFunc(c.Devices, func(d Device) bool { return d.Vendor == vendor }) || vendor == NVIDIA && (len(c.Parts) > 0 || c.unlisted)
}

func invalid(wanted, one string) error {
	return fault.New(fault.Plan, "gpus_invalid", `write all, none, count:2, or a list of indices, PCI addresses and UUIDs such as "0-3" or "c1:00.0"`,
		"server.gpus %q: %q is not a GPU", wanted, one)
}

func twice(wanted, one string) error {
	return fault.New(fault.Plan, "gpus_invalid", "write each once", "server.gpus %q names %s twice", wanted, one)
}

// Nothing says that GPUs are wanted where there are none.
func Nothing(wanted string) error {
	return fault.New(fault.Preflight, "no_gpu", "check the driver, or write server.gpus: none", "server.gpus is %q, but no accelerator is there", wanted)
}

// missing says which devices there are.
func missing(wanted, one string, here []Device) error {
	if len(here) == 0 {
		return Nothing(wanted)
	}
	var list []string
	for _, d := range here {
		list = append(list, strings.TrimSpace(fmt.Sprintf("%d is %s %s", d.Index, d.PCI, d.UUID)))
	}
	return fault.New(fault.Preflight, "no_gpu", "correct server.gpus", "server.gpus %q wants %s, but this machine has %d: %s", wanted, one, len(here), strings.Join(list, ", "))
}
