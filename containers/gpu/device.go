package gpu

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The vendors whose devices are known here.
const (
	AMD    = "amd"
	NVIDIA = "nvidia"
)

// Device is a physical accelerator.
type Device struct {
	Index    int      `json:"index"` // in the order of PCI addresses
	Vendor   string   `json:"vendor"`
	PCI      string   `json:"pci,omitempty"`   // 0000:c1:00.0; "" of a part of a device that was named by its UUID
	UUID     string   `json:"uuid,omitempty"`  // GPU-…; "" when the driver does not tell it
	Files    []string `json:"files,omitempty"` // device files of its own: render nodes, one for each partition, or /dev/nvidia0
	NUMANode int      `json:"numa_node"`       // memory node that it is attached to; -1: not told

	agents []int // AMD: its places in the order in which the compute driver lists GPUs and partitions
}

// List finds the devices of the machine below root, in the order of PCI addresses.
func List(root string) []Device {
	top := readTopology(root)
	var list []Device
	for _, dir := range glob(root, "sys/bus/pci/devices/*") {
		address := path.Base(dir)
		switch vendor := text(dir, "vendor"); {
		case !isAccelerator(text(dir, "class")):
		case vendor == "0x1002" && driverOf(dir) == "amdgpu":
			list = append(list, amdDevice(root, dir, address, top))
		case vendor == "0x10de" && driverOf(dir) == "nvidia":
			list = append(list, nvidiaDevice(root, dir, address))
		}
	}
	slices.SortFunc(list, func(a, b Device) int { return strings.Compare(a.PCI, b.PCI) })
	for i := range list {
		list[i].Index = i
	}
	return list
}

// isAccelerator: a VGA or 3D controller, a display or a processing accelerator.
func isAccelerator(class string) bool {
	return slices.ContainsFunc([]string{"0x0300", "0x0302", "0x0380", "0x1200"}, func(c string) bool { return strings.HasPrefix(class, c) })
}

// amdDevice reads the UUID from the bus or, else, from the compute driver. Of a divided device the render nodes of all its partitions are its own.
func amdDevice(root, dir, address string, top topology) Device {
	d := Device{Vendor: AMD, PCI: address, NUMANode: numaNode(dir)}
	nodes := map[string]bool{}
	for _, node := range glob(dir, "drm/renderD*") {
		nodes[path.Base(node)] = true
	}
	unique, _ := strconv.ParseUint(text(dir, "unique_id"), 16, 64)
	for _, a := range top.agents {
		if a.address == physical(address) {
			nodes[a.node], d.agents = true, append(d.agents, a.place)
			unique = cmp.Or(unique, a.unique)
		}
	}
	for node := range nodes {
		d.Files = append(d.Files, "/dev/dri/"+node)
	}
	slices.SortFunc(d.Files, byNumber)
	if unique != 0 {
		d.UUID = fmt.Sprintf("GPU-%016x", unique)
	}
	return d
}

// nvidiaDevice reads what the kernel's module tells. Before a device was used first, its UUID is a row of question marks.
func nvidiaDevice(root, dir, address string) Device {
	d := Device{Vendor: NVIDIA, PCI: address, NUMANode: numaNode(dir)}
	for line := range strings.Lines(text(root, "proc/driver/nvidia/gpus/"+address+"/information")) {
		key, value, _ := strings.Cut(line, ":")
		switch value = strings.TrimSpace(value); strings.TrimSpace(key) {
		case "GPU UUID":
			if !strings.Contains(value, "?") {
				d.UUID = value
			}
		case "Device Minor":
			if n, err := strconv.Atoi(value); err == nil {
				d.Files = []string{"/dev/nvidia" + strconv.Itoa(n)}
			}
		}
	}
	return d
}

// physical is the address of the device that a partition belongs to: in a divided device the functions number the partitions.
func physical(address string) string {
	device, _, _ := strings.Cut(address, ".")
	return device + ".0"
}

func numaNode(dir string) int {
	n, err := strconv.Atoi(text(dir, "numa_node"))
	if err != nil {
		return -1
	}
	return n
}

// byNumber puts renderD992 before renderD1000.
func byNumber(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) }

func driverOf(dir string) string {
	to, err := os.Readlink(filepath.Join(dir, "driver"))
	if err != nil {
		return ""
	}
	return filepath.Base(to)
}

// text is a small file's content, "" when it cannot be read.
func text(dir, name string) string {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// glob lists what fits a pattern below a folder.
func glob(dir, pattern string) []string {
	found, _ := filepath.Glob(filepath.Join(quoted(dir), pattern)) // only a bad pattern is an error
	return found
}

// quoted keeps what a folder's name has of a pattern's signs from being one.
func quoted(dir string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}
