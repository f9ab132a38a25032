package machine

import (
	"strings"
	"testing"

	"assay/probes"
)

// TestPublishedFields reads a captured machine and finds every row that published descriptions of such machines have, of MLPerf's summary of
// the system under test and of a community leaderboard's card, filled from facts.
func TestPublishedFields(t *testing.T) {
	h, done, err := probes.FromCapture(t.Context(), "../../probes/testdata/hosts/bare-metal-mi300x")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = done() })
	lines := map[string]Line{}
	for _, c := range Summarise(probes.Read(t.Context(), h, probes.Program{})) {
		for _, l := range c.Lines {
			lines[l.Label] = l
		}
	}
	for _, row := range []struct{ published, label, says string }{
		{"System name", "System", "GX8 Server"},
		{"Processor", "Processors", "Example Xeon 8460"},
		{"Processor count", "Processors", "2 ×"},
		{"Cores per processor", "Cores", "2 per processor"},
		{"VCPUs per processor", "Cores", "4 vCPUs per processor"},
		{"Accelerator", "Accelerators", "AMD Instinct MI300X"},
		{"Accelerator count", "Accelerators", "2 ×"},
		{"Accelerator memory capacity", "Memory each", "192 GB"},
		{"Accelerator memory type", "Memory type", "HBM3"},
		{"Accelerator interconnect", "Accelerator interconnect", "xgmi"},
		{"Accelerator host interconnect", "Host interconnect", "PCIe 32 GT/s ×16"},
		{"Host memory", "Memory", "2,048 GiB installed"},
		{"Host memory, as the OS reports it", "Memory", "2,015 GiB"},
		{"Memory configuration", "Memory configuration", "DDR5"},
		{"Storage capacity", "Storage", "1.6 TB"},
		{"Storage type", "Storage", "Dell Ent NVMe PM1735a MU 1.6TB"},
		{"Filesystem", "File systems", "XFS on LVM (/mnt/llm_data"},
		{"Networking", "Networking", "BCM5720 1GbE (one link up)"},
		{"Operating system", "Operating system", "Example Linux 24.04 LTS, kernel 6.8.0-79-generic"},
		{"Driver", "AMD driver", "amdgpu 6.10.5, host ROCm 6.3.2"},
		{"Container engine", "Container engine", "Docker 29.2.1"},
		{"Hardware notes: BIOS", "BIOS", "2.6.5, 2025-07-11"},
		{"Hardware notes: GPU VBIOS", "VBIOS", "113-M3000100-103"},
		{"Hardware notes: power limit", "Power cap", "750 W (default 750 W)"},
		{"System power", "Provisioned power", "kW"},
		{"Type", "Type", "Discrete GPU"},
		{"VRAM", "Memory total", "384 GB (2 × 192 GB)"},
	} {
		l, there := lines[row.label]
		if !there || !strings.Contains(l.Value, row.says) {
			t.Errorf("%s: %q does not say %q: %s", row.published, row.label, row.says, l.Text())
		}
		if l.Source == "" {
			t.Errorf("%s: no source", row.published)
		}
	}
}
