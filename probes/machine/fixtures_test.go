package machine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/probes/hosttest"
	"assay/probes/smbios"
	"assay/probes/sut"
)

// TestRealSMBIOS reads the table of a Dell R630, with one of two sockets and 2 of 24 slots in use, and compares all that is known of it.
func TestRealSMBIOS(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(shared, "smbios/Dell-PowerEdge-R630-Dual-Xeon.dmi"))
	if err != nil {
		t.Skipf("no public captures here: %v", err)
	}
	h := hosttest.Tree(t, map[string]string{smbios.Path: string(b)})
	s, c, m := probeSystem(t, h), probeCPU(t, h), probeMemory(t, h)
	find := map[string]any{
		"bios": s.BIOS.Version.Value, "bios_date": s.BIOS.Date.Value, "sockets": float64(c.BoardSockets.Value), "sockets_populated": float64(c.PopulatedSockets.Value),
		"dimm_slots": float64(m.Slots.Value), "dimms": float64(len(m.DIMMs.Items)),
	}
	for _, d := range m.DIMMs.Items {
		for key, got := range map[string]any{
			"dimm_mib": float64(d.SizeBytes.Value >> 20), "type": d.Type.Value, "speed_mts": float64(d.SpeedMTS.Value), "configured_mts": float64(d.ConfiguredMTS.Value),
		} {
			if old, ok := find[key]; ok && old != got {
				t.Errorf("DIMMs differ: %v, %v", old, got)
			}
			find[key] = got
		}
	}
	for key, want := range expected(t, "system/smbios/Dell-PowerEdge-R630-Dual-Xeon") {
		if find[key] != want {
			t.Errorf("%s: %v, not %v", key, find[key], want)
		}
	}
	if c.FirmwareModel.Value != "Intel(R) Xeon(R) CPU E5-2630 v3 @ 2.40GHz" || c.Sockets.Value != 1 || s.Vendor.Value != "Dell Inc." || s.Product.Value != "PowerEdge R630" || s.Board.Value != "Dell Inc. 02C2CP" {
		t.Errorf("%+v %+v %+v", c.FirmwareModel, s.Product, s.Board)
	}
	if m.ErrorCorrection.Value != "Multi-bit ECC" || m.Summary.Value != "2 × 16 GiB DDR4-1866 RDIMM" || m.DIMMs.Items[0].PartNumber.Value != "18ASF2G72PDZ-2G3B1" {
		t.Errorf("%+v %+v", m.ErrorCorrection, m.Summary)
	}
}

// TestGB10 reads a DGX Spark: an Arm processor of two kinds of core.
func TestGB10(t *testing.T) {
	h := archive(t, "hwloc/nvidia-dgx-gb10.tar.bz2")
	c := probeCPU(t, h)
	if got, want := countsOf(c), (counts{1, 20, 1, 20, 20}); got != want {
		t.Errorf("%+v, not %+v", got, want)
	}
	for name, tt := range map[string]struct{ got, want any }{
		"model": {c.Model.Value, "10 × Cortex-A725, 10 × Cortex-X925"}, "vendor": {c.Vendor.Value, "ARM"}, "governor": {c.Governor.Value, "performance"},
		"driver": {c.FrequencyDriver.Value, "cppc_cpufreq"}, "max": {c.MaxMHz.Value, 3900}, "limit": {c.LimitMHz.Value, 2808}, "boost": {c.Boost, sut.Known(false, cpufreq+"/boost")},
		"smt": {c.SMT.Value, false}, "nodes": {len(c.NUMANodes.Items), 1}, "cpus of the node": {c.NUMANodes.Items[0].CPUs.Value, "0-19"}, "kinds of core": {len(c.CoreTypes.Items), 2},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %v, not %v", name, tt.got, tt.want)
		}
	}
	sizes := map[string]int64{}
	for _, k := range c.Caches.Items {
		sizes[k.Type.Value+string(rune('0'+k.Level.Value))] = k.Bytes.Value
	}
	if sizes["data1"] != 20*64<<10 || sizes["unified2"] != 10*(512+2048)<<10 || sizes["unified3"] != (8+16)<<20 {
		t.Errorf("caches %v", sizes)
	}
	if fast := c.CoreTypes.Items[1]; fast.Name.Value != "Cortex-X925" || fast.CPUs.Value != "5-9,15-19" || fast.Cores.Value != 10 {
		t.Errorf("%+v", fast)
	}
	s, m := probeSystem(t, h), probeMemory(t, h)
	if s.Vendor.Value != "NVIDIA" || s.Product.Value != "NVIDIA_DGX_Spark" || s.Board.Value != "NVIDIA P4242" || s.BIOS.Version.Value != "5.36_0ACUM018" || s.BIOS.Date.Value != "2025-08-06" || s.Hypervisor.Value != "none" {
		t.Errorf("%+v", s)
	}
	if m.Bytes.Value != 125508468<<10 || m.DIMMs.Unknown == "" {
		t.Errorf("%+v", m)
	}
}

// TestRealPowercap reads the zones of two processors of 95 W; the limit of 4090 W is what stands where firmware sets none.
func TestRealPowercap(t *testing.T) {
	tdp, limit := readPowercap(folder(t, "procfs-powercap"))
	if tdp.Value != 95 || limit.IsKnown() || !strings.Contains(limit.NA, "4090 W") {
		t.Errorf("%+v %+v", tdp, limit)
	}
}

func TestRealBoard(t *testing.T) {
	s := probeSystem(t, folder(t, "procfs-dmi-id"))
	if s.Vendor.Value != "Dell Inc." || s.Product.Value != "PowerEdge R6515" || s.BIOS.Version.Value != "2.2.4" || s.BIOS.Date.Value != "2021-04-12" || s.Chassis.Value != "rack mount" || s.Version.IsKnown() {
		t.Errorf("%+v", s)
	}
}

// TestRealXE9680 turns what dmidecode printed of a server with 8 H100 into the files that the kernel makes of the same structure.
func TestRealXE9680(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(shared, "xe9680-h100-x8/dmidecode.txt"))
	if err != nil {
		t.Skipf("no public captures here: %v", err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(b)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if file := map[string]string{"Manufacturer": "sys_vendor", "Product Name": "product_name", "Version": "product_version"}[key]; file != "" {
			files["sys/class/dmi/id/"+file] = value + "\n"
		}
	}
	s := probeSystem(t, hosttest.Tree(t, files))
	if s.Vendor.Value != "Dell Inc." || s.Product.Value != "PowerEdge XE9680" || s.Version.IsKnown() || len(files) != 3 {
		t.Errorf("%+v", s)
	}
}
