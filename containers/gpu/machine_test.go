package gpu

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// tree makes a root folder of files; "-> target" is a link.
func tree(t *testing.T, entries map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range entries {
		file := filepath.Join(root, name)
		err := os.MkdirAll(filepath.Dir(file), 0o755)
		if to, link := strings.CutPrefix(content, "-> "); link {
			err = errors.Join(err, os.Symlink(to, file))
		} else {
			err = errors.Join(err, os.WriteFile(file, []byte(content), 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// pci describes a device on the bus.
func pci(entries map[string]string, address, vendor, class, driver string, numa int) {
	dir := "sys/bus/pci/devices/" + address + "/"
	entries[dir+"vendor"], entries[dir+"class"] = vendor+"\n", class+"\n"
	entries[dir+"driver"] = "-> ../../../bus/pci/drivers/" + driver
	entries[dir+"numa_node"] = strconv.Itoa(numa) + "\n"
}

// uuidOf is the UUID of the n-th NVIDIA device of hgx.
func uuidOf(n int) string { return fmt.Sprintf("GPU-0000000%d-4000-8000-0000-000000000000", n) }

// hgx has eight NVIDIA GPUs, whose minors do not follow the bus, and the board's own graphics, which the driver does not serve.
func hgx() map[string]string {
	entries := map[string]string{"dev/nvidiactl": ""}
	pci(entries, "0000:03:00.0", "0x102b", "0x030000", "mgag200", 0)
	for i, bus := range []string{"19", "3b", "4c", "5d", "9b", "bb", "cb", "db"} {
		address := "0000:" + bus + ":00.0"
		pci(entries, address, "0x10de", "0x030200", "nvidia", i/4)
		entries["proc/driver/nvidia/gpus/"+address+"/information"] = fmt.Sprintf("Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 18\nGPU UUID: \t %s\nBus Location: \t %s\nDevice Minor: \t %d\n", uuidOf(i), address, 7-i)
		entries["dev/nvidia"+strconv.Itoa(7-i)] = ""
	}
	return entries
}

// unused is hgx before any of its devices was used: their UUIDs are not made yet.
func unused() map[string]string {
	entries := hgx()
	for name, content := range entries {
		if strings.HasSuffix(name, "/information") {
			before, _, _ := strings.Cut(content, "GPU-")
			_, after, _ := strings.Cut(content, "Bus Location")
			entries[name] = before + "GPU-????????-????-????-????-????????????\nBus Location" + after
		}
	}
	return entries
}

// radeon has ten AMD GPUs, whose render nodes do not sort as text, and the board's own graphics with a node of its own.
func radeon() map[string]string {
	entries := map[string]string{"dev/kfd": "", "dev/dri/renderD128": ""}
	pci(entries, "0000:02:00.0", "0x1a03", "0x030000", "ast", 0)
	entries["sys/bus/pci/devices/0000:02:00.0/drm/renderD128/dev"] = ""
	for i := range 10 {
		address, node := fmt.Sprintf("0000:%02x:00.0", 0x10+i*0x10), fmt.Sprintf("renderD%d", 992+i)
		pci(entries, address, "0x1002", "0x120000", "amdgpu", i/5)
		entries["dev/dri/"+node], entries["sys/bus/pci/devices/"+address+"/drm/"+node+"/dev"] = "", ""
		entries["sys/bus/pci/devices/"+address+"/unique_id"] = fmt.Sprintf("f00000000000000%d\n", i)
	}
	return entries
}

// divided is the captured topology of eight MI300X in CPX mode, one of whose 64 partitions is missing, with a bus that fits it. Without the
// topology the partitions beyond the first are only devices of the platform.
func divided(t *testing.T, topology bool) string {
	t.Helper()
	const capture = "../../../shared/fixtures/amd/kfd-mi300x-x8-cpx/tree/nodes"
	if _, err := os.Stat(capture); err != nil {
		t.Skip("needs ", capture)
	}
	here, err := filepath.Abs(capture)
	if err != nil {
		t.Fatal(err)
	}
	entries := map[string]string{"dev/kfd": "", "sys/class/kfd/kfd/topology/nodes": "-> " + here}
	root := tree(t, map[string]string{"sys/class/kfd/kfd/topology/nodes": "-> " + here})
	if !topology {
		delete(entries, "sys/class/kfd/kfd/topology/nodes")
	}
	first := map[string]bool{}
	for i, a := range readTopology(root).agents {
		entries["dev/dri/"+a.node] = ""
		if first[a.address] {
			entries[fmt.Sprintf("sys/devices/platform/amdgpu_xcp_%d/drm/%s/dev", i, a.node)] = ""
			continue
		}
		first[a.address] = true
		pci(entries, a.address, "0x1002", "0x120000", "amdgpu", 0)
		entries["sys/bus/pci/devices/"+a.address+"/drm/"+a.node+"/dev"] = ""
	}
	return tree(t, entries)
}
