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
		"iommu": "IOMMU", "gts": "speed", "mts": "speed", "mbps": "speed", "gbps": "rate", "id": "ID", "pid": "PID", "rocm": "ROCm", "cuda": "CUDA", "nvidia": "NVIDIA", "infiniband": "InfiniBand", "cpuidle": "CPU idle", "kv": "KV",
	}
	words := strings.Split(name, "_")
	for i, w := range words {
		if c, ok := capitals[w]; ok {
			words[i] = c
		}
	}
	if last := len(words) - 1; last > 0 && slices.Contains([]string{"w", "bytes"}, words[last]) && name != "free_bytes" {
		words = words[:last]
	}
	s := strings.Join(words, " ")
	return strings.NewReplacer("speed speed", "speed", "rate rate", "rate").Replace(s)
}
