package figure

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Capital begins a text with a capital letter.
func Capital(s string) string {
	if s == "" {
		return ""
	}
	_, n := utf8.DecodeRuneInString(s)
	return strings.ToUpper(s[:n]) + s[n:]
}

// Words turns a field's name into words, with the usual capitals.
func Words(name string) string {
	capitals := map[string]string{
		"cpu": "CPU", "cpus": "CPUs", "gpu": "GPU", "numa": "NUMA", "bios": "BIOS", "bmc": "BMC", "pci": "PCI", "os": "OS", "smt": "SMT", "vram": "VRAM",
		"vbios": "VBIOS", "ifwi": "IFWI", "ecc": "ECC", "xgmi": "XGMI", "nvlinks": "NVLinks", "dimms": "DIMMs", "thp": "THP", "aspm": "ASPM",
		"iommu": "IOMMU", "gts": "speed", "mts": "speed", "mbps": "speed", "gbps": "rate", "id": "ID", "pid": "PID", "rocm": "ROCm", "cuda": "CUDA", "nic": "NIC", "dram": "DRAM", "pcie": "PCIe", "mem": "memory", "ppt": "PPT", "hbm": "HBM", "vr": "VR", "hw": "HW", "sw": "SW", "nvidia": "NVIDIA", "infiniband": "InfiniBand", "cpuidle": "CPU idle", "kv": "KV",
		"gfx": "GFX", "mhz": "clock", "aer": "AER", "naks": "NAKs", "ras": "RAS", "cdi": "CDI", "cxl": "CXL", "edac": "EDAC", "epp": "EPP", "tdp": "TDP", "mtu": "MTU", "vlan": "VLAN", "vfs": "VFs", "gpus": "GPUs", "nohz": "no-HZ", "cgroup": "control group", "cpuset": "CPU set", "1m": "over 1 min", "5m": "over 5 min", "15m": "over 15 min", "amd": "AMD", "p2p": "P2P", "acs": "ACS", "net": "network", "rx": "received", "tx": "sent", "util": "utilization", "temp": "temperature", "iowait": "I/O wait",
	}
	words := strings.Split(name, "_")
	for i, w := range words {
		if c, ok := capitals[w]; ok {
			words[i] = c
		}
	}
	if last := len(words) - 1; last > 0 && slices.Contains([]string{"w", "bytes", "c", "pct", "s"}, words[last]) && name != "free_bytes" {
		words = words[:last]
	}
	s := strings.Join(words, " ")
	return strings.NewReplacer("speed speed", "speed", "rate rate", "rate").Replace(s)
}
