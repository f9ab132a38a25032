package check

import (
	"fmt"

	"assay/probes/sut"
)

const src = "test"

func known[T any](v T) sut.Fact[T] { return sut.Known(v, src) }

// healthy gives a SUT of n equal, healthy GPUs on bare metal, and lets a test spoil it.
func healthy(n int, spoil func(*sut.SUT)) sut.SUT {
	var s sut.SUT
	for i := range n {
		s.Accelerators.Items = append(s.Accelerators.Items, healthyGPU(i, n))
	}
	s.CPU = sut.CPU{Governor: known("performance"), Threads: known(128)}
	s.Memory = sut.Memory{Bytes: known(int64(2000) << 30), InstalledBytes: known(int64(2048) << 30), EDAC: sut.EDAC{Uncorrectable: known(int64(0)), Correctable: known(int64(1))}}
	s.Storage.Filesystems.Items = []sut.Filesystem{{Mount: known("/"), Bytes: known(int64(1) << 40), FreeBytes: known(int64(1) << 39), Stack: known([]string{"xfs", "lvm", "nvme"}), Degraded: known(0)}}
	s.Storage.Devices.Items = []sut.Drive{{Name: known("nvme0n1"), Health: sut.Health{State: known("live"), CriticalWarning: known(0), MediaErrors: known(int64(0))}}}
	s.Network.Interfaces.Items = []sut.NIC{{Name: known("eth0"), Kind: known("ethernet"), Up: known(true), SpeedMbps: known(25000), MaxMbps: known(25000)}}
	s.Network.InfiniBand.Items = []sut.InfiniBand{{Name: known("mlx5_0"), State: known("active"), RateGbps: known(400.0), Counters: sut.PortCounters{LinkDowned: known(int64(0))}}}
	s.Network.Listening = known([]int{22})
	s.OS = sut.OS{Kernel: known("6.8"), Taint: known([]string{"out_of_tree_module"}), Load1: known(0.5)}
	s.OS.Tuning = sut.Tuning{
		NUMABalancing: known(false), THP: known("madvise"), SwapBytes: known(int64(0)), ClockSynced: known(true), IOMMU: known("identity"), ASPM: known("default"), Clocksource: known("tsc"),
		FilesLimit: known(int64(1 << 20)), ProcessesLimit: known(int64(1 << 20)), MemlockBytes: sut.NA[int64]("unlimited"), CgroupCPUs: sut.NA[float64]("none"), CgroupBytes: sut.NA[int64]("none"),
	}
	s.System.Virtualization = known("none")
	s.Power.Supplies.Items = []sut.PowerSupply{{Name: known("PSU 1"), Health: known("OK")}}
	s.Software = sut.Software{Docker: known("29.2.1"), ContainerToolkit: known("1.17"), NVIDIADriver: known("590.48.01"), CUDA: known("13.1")}
	if spoil != nil {
		spoil(&s)
	}
	return s
}

// healthyGPU is the i-th of n.
func healthyGPU(i, n int) sut.Accelerator {
	return sut.Accelerator{
		Vendor: known("NVIDIA"), PCI: sut.PCI{Address: known(fmt.Sprintf("0000:%02x:00.0", i+1)), DeviceID: known("0x2330")},
		PowerCapW: known(700.0), PowerDefaultW: known(700.0), DriverVersion: known("590.48.01"), VBIOS: known("96"), VRAMBytes: known(int64(80 << 30)), VRAMUsedBytes: known(int64(1 << 20)),
		Link:       sut.Link{GTS: known(32.0), Width: known(16), MaxGTS: known(32.0), MaxWidth: known(16), ACSRedirect: known(false)},
		LinkErrors: sut.LinkErrors{Replays: known(int64(5)), AERFatal: known(int64(0))},
		ECC:        known(true), Persistence: known(true), Partition: sut.Partition{Count: known(1), Compute: sut.NA[string]("off")},
		RAS:       sut.RAS{Correctable: known(int64(3)), Uncorrectable: known(int64(0)), BadPages: known(0), PendingPages: known(0), RemapFailed: known(false), RecoveryAction: known("none")},
		PerfLevel: known("auto"), Clocks: sut.Clocks{GfxMaxMHz: known(1980.0), AppGfxMHz: known(1980.0)}, ComputeMode: known("default"), UtilPct: known(0.0), PowerW: known(70.0),
		Temperatures: sut.Temperatures{HotspotC: known(35.0), MemC: known(40.0), HotspotLimitC: known(90.0), MemLimitC: known(95.0)},
		XGMIPeers:    sut.NA[int]("AMD's link"), NVLinks: known(18), P2PPeers: known(n - 1), Fabric: sut.Fabric{LinksDown: known(0), State: known("completed")},
	}
}
