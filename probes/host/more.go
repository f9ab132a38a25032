package host

import (
	"context"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// moreLimit bounds what a capture asks beyond what the probes did.
const moreLimit = 45 * time.Second

// ReadMore reads what no probe needs today, so that a capture holds it for those of tomorrow: reports of the vendors' tools, and trees of
// files about GPUs, memory, networks and drives. It gives nothing; what is there is in the recording.
func ReadMore(ctx context.Context, h Host) {
	ctx, cancel := context.WithTimeout(ctx, moreLimit)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		var wg sync.WaitGroup
		for _, group := range moreCommands() {
			wg.Go(func() { runEach(ctx, h, group) })
		}
		wg.Go(func() { askEveryField(ctx, h) })
		wg.Go(func() { readTrees(ctx, h) })
		wg.Wait()
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// moreCommands are groups that run side by side; in a group one runs after the other, since runs of one tool wait for each other.
func moreCommands() [][]string {
	return [][]string{
		{"amd-smi version --json", "amd-smi list --json", "amd-smi list -e --json", "amd-smi static --json", "amd-smi metric --json", "amd-smi topology --json", "amd-smi partition --json",
			"amd-smi process --json", "amd-smi firmware --json", "amd-smi xgmi --json", "amd-smi bad-pages --json", "amd-smi ras --cper --json"},
		{"rocm-smi -a --json"},
		{"rocminfo"},
		{"nvidia-smi -q -x", "nvidia-smi -q", "nvidia-smi -L", "nvidia-smi topo -m", "nvidia-smi nvlink -s", "nvidia-smi nvlink -e", "nvidia-smi conf-compute -q"},
		{"lsblk -OJ"},
		{"lscpu -J"},
		{"lspci -nn", "lspci -vvv"},
		{"rdma link -j", "rdma statistic -j", "ibstat"},
	}
}

func runEach(ctx context.Context, h Host, commands []string) {
	for _, line := range commands {
		if ctx.Err() != nil || h.record.has(line) {
			continue
		}
		h.Run(ctx, strings.Fields(line)...) //nolint:errcheck // recorded, whatever it gives
	}
}

// askEveryField asks nvidia-smi for every field that this driver knows.
func askEveryField(ctx context.Context, h Host) {
	out, err := h.Run(ctx, "nvidia-smi", "--help-query-gpu")
	if err != nil {
		return
	}
	var fields []string
	for line := range strings.Lines(string(out.Stdout)) {
		if name, rest, ok := strings.Cut(strings.TrimPrefix(line, `"`), `"`); ok && strings.HasPrefix(line, `"`) && !strings.Contains(rest, `"`) {
			fields = append(fields, name)
		}
	}
	if len(fields) > 0 {
		h.Run(ctx, "nvidia-smi", "--query-gpu="+strings.Join(fields, ","), "--format=csv") //nolint:errcheck // recorded, whatever it gives
	}
}

// readTrees reads small trees whole. No link inside them is followed but the entries of a class.
func readTrees(ctx context.Context, h Host) {
	for _, dir := range []string{
		"/proc/driver/nvidia", "/sys/class/dmi/id", "/sys/class/kfd/kfd/topology", "/sys/devices/system/edac/mc", "/sys/devices/system/cpu/vulnerabilities",
		"/sys/class/infiniband", "/sys/class/nvme", "/sys/class/powercap", "/sys/class/net",
	} {
		readTree(ctx, h, dir, 6)
	}
	for _, dev := range h.Match("/sys/bus/pci/devices", "*") {
		if class, _ := h.Text(dev + "/class"); strings.HasPrefix(class, "0x03") || strings.HasPrefix(class, "0x12") {
			readTree(ctx, h, dev, 3)
		}
	}
}

// skipped tells entries that lead out of a tree, act when they are read, take long or hold nothing of use.
func skipped(name string) bool {
	return slices.ContainsFunc([]string{
		"subsystem", "driver", "device", "device:*", "firmware_node", "physfn", "virtfn*", "iommu*", "power", "pcie_bw", "rom", "config", "resource*", "remove", "rescan", "reset*",
		"msi_irqs", "pp_od_clk_voltage", "pp_table", "gpu_od", "i2c*", "ptp", "queues", "statistics", "wakeup*", "backlight", "cper", "hw_counters", "of_node", "consumer:*", "supplier:*",
	}, func(pattern string) bool { ok, _ := path.Match(pattern, name); return ok })
}

// readTree reads the files of a folder and of those below it.
func readTree(ctx context.Context, h Host, dir string, depth int) {
	names, err := h.List(dir)
	if err != nil || depth == 0 {
		return
	}
	for _, name := range names {
		entry := dir + "/" + name
		if ctx.Err() != nil || skipped(name) {
			continue
		}
		if h.IsDir(entry) {
			if !loops(h, dir, entry) {
				readTree(ctx, h, entry, depth-1)
			}
			continue
		}
		h.Read(entry) //nolint:errcheck // recorded, whatever it gives
	}
}

// loops tells a link that leads back to the folder it stands in, or above it.
func loops(h Host, dir, entry string) bool {
	here, err := h.Real(dir)
	there, err2 := h.Real(entry)
	return err != nil || err2 != nil || here == there || strings.HasPrefix(here, there+"/")
}
