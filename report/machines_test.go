package report

import (
	"fmt"

	"assay/probes"
)

// gpuSUT is a server with eight accelerators as its probes would tell it, with some facts that nobody could read.
func gpuSUT() probes.SUT {
	s := probes.SUT{
		Schema: probes.SchemaSUT, ProbedAtUS: epoch + 3_000_000, Program: probes.Program{Version: "0.1.0", Commit: "d3c57f2", Go: "go1.26.0"},
		System: probes.System{
			Vendor: probes.Known("Dell Inc.", "dmi/id/sys_vendor"), Product: probes.Known("PowerEdge XE9680", "dmi/id/product_name"),
			BIOS: probes.BIOS{Version: probes.Known("2.6.5", "dmi/id/bios_version"), Date: probes.Known("2025-07-11", "dmi/id/bios_date")},
			BMC:  probes.Unknown[string]("no Redfish address configured"), Chassis: probes.Unknown[string]("SMBIOS table needs root"), Virtualization: probes.Known("none", "systemd-detect-virt"),
		},
		CPU: probes.CPU{
			Vendor: probes.Known("GenuineIntel", "/proc/cpuinfo"), Model: probes.Known("Intel(R) Xeon(R) Platinum 8460Y+", "/proc/cpuinfo"), Sockets: probes.Known(2, "sys cpu/topology"),
			CoresPerSocket: probes.Known(40, "sys cpu/topology"), ThreadsPerCore: probes.Known(2, "sys cpu/topology"), Governor: probes.Known("performance", "cpufreq/scaling_governor"), SMT: probes.Known(true, "cpu/smt/active"),
		},
		Memory: probes.Memory{
			Bytes: probes.Known(int64(2015)<<30, "/proc/meminfo"), InstalledBytes: probes.Known(int64(2048)<<30, "SMBIOS type 17"), Slots: probes.Known(32, "SMBIOS type 17"),
			Summary: probes.Known("2 TiB DDR5 RDIMM, 32 × 64 GiB at 4800 MT/s", "SMBIOS type 17"),
		},
		Interconnect: probes.Interconnect{Kind: probes.Known("xgmi", "kfd io_links"), Hives: probes.Known(1, "kfd io_links")},
		OS: probes.OS{
			Distro: probes.Known("Ubuntu 22.04.5 LTS", "/etc/os-release"), Kernel: probes.Known("5.15.0-130-generic", "uname"), Cmdline: probes.Known("BOOT_IMAGE=/vmlinuz-5.15.0-130-generic root=/dev/mapper/vg-root ro iommu=pt", "/proc/cmdline"),
			Tuning: probes.Tuning{NUMABalancing: probes.Known(true, "/proc/sys/kernel/numa_balancing"), THP: probes.Known("madvise", "transparent_hugepage/enabled"), Swappiness: probes.Known(60, "/proc/sys/vm/swappiness"), SwapBytes: probes.Known(int64(0), "/proc/meminfo")},
		},
		Software: probes.Software{
			AMDGPU: probes.Known("6.10.5", "/sys/module/amdgpu/version"), ROCm: probes.Known("6.3.2", "/opt/rocm/.info/version"), CUDA: probes.NA[string]("no NVIDIA device"), NVIDIADriver: probes.NA[string]("no NVIDIA device"),
			Docker: probes.Known("29.2.1", "docker info"), Containerd: probes.Known("2.2.0", "docker info"), ContainerToolkit: probes.NA[string]("no NVIDIA device"),
		},
		Power: probes.Power{ProvisionedW: probes.Known(9900.0, "power caps"), Source: probes.Known("estimate", "no PDU, no Redfish"), Method: probes.Known("(8 × 750 W + 2 × 300 W) × 1.5", "estimate")},
	}
	for i := range 2 {
		s.CPU.NUMANodes.Items = append(s.CPU.NUMANodes.Items, probes.NUMANode{ID: probes.Known(i, "sys node"), CPUs: probes.Known(fmt.Sprintf("%d-%d,%d-%d", 40*i, 40*i+39, 80+40*i, 119+40*i), "sys node"), Bytes: probes.Known(int64(1007)<<30, "sys node/meminfo"), Kind: probes.Known("cpu", "sys node")})
	}
	for i := range 32 {
		s.Memory.DIMMs.Items = append(s.Memory.DIMMs.Items, probes.DIMM{SizeBytes: probes.Known(int64(64)<<30, "SMBIOS type 17"), Type: probes.Known("DDR5", "SMBIOS type 17"), SpeedMTS: probes.Known(4800, "SMBIOS type 17"), ConfiguredMTS: probes.Known(4800, "SMBIOS type 17"), Slot: probes.Known(fmt.Sprintf("%c%d", 'A'+i/16, i%16+1), "SMBIOS type 17")})
	}
	for i := range 8 {
		s.Accelerators.Items = append(s.Accelerators.Items, accelerator(i))
	}
	s.Storage, s.Network = gpuStorage(), gpuNetwork()
	s.Network.Summary = probes.Known("2 × BCM5720 1GbE (one link up); no InfiniBand", "the interfaces of this document")
	for i, text := range []string{"ext4 on LVM (/; 1 × NVMe)", "XFS on LVM (/mnt/llm_data; 7 × NVMe)"} {
		s.Storage.Filesystems.Items[i].Summary = probes.Known(text, "mountinfo")
	}
	s.Power.Supplies.Unknown = "no Redfish address configured"
	s.OS.Tuning.IOMMU, s.OS.Tuning.Clocksource, s.OS.Tuning.FilesLimit = probes.Known("identity", "iommu_groups"), probes.Known("tsc", "current_clocksource"), probes.Known(int64(1048576), "/proc/self/limits")
	s.OS.Load1, s.OS.KernelLog.Unknown = probes.Known(0.42, "/proc/loadavg"), "needs root, or the group adm"
	return s
}

func accelerator(i int) probes.Accelerator {
	addresses := []string{"0000:1b:00.0", "0000:3d:00.0", "0000:4e:00.0", "0000:5f:00.0", "0000:9d:00.0", "0000:bd:00.0", "0000:cd:00.0", "0000:dd:00.0"}
	dir := fmt.Sprintf("drm/card%d/device/", i+1)
	return probes.Accelerator{
		Vendor: probes.Known("AMD", "pci vendor"), Name: probes.Known("AMD Instinct MI300X OAM", "pci ids, "+dir+"product_name"),
		PCI:  probes.PCI{Address: probes.Known(addresses[i], "pci bus"), DeviceID: probes.Known("0x74a1", "pci device"), SubsystemID: probes.Known("0x74a1", "pci subsystem_device")},
		Arch: probes.Known("gfx942", "kfd gfx_target_version"), VRAMBytes: probes.Known(int64(192)<<30, dir+"mem_info_vram_total"), ComputeUnits: probes.Known(304, "kfd simd_count"),
		PowerCapW: probes.Known(750.0, dir+"hwmon/power1_cap"), PowerDefaultW: probes.Known(750.0, dir+"hwmon/power1_cap_default"), PowerMinW: probes.Known(0.0, dir+"hwmon/power1_cap_min"), PowerMaxW: probes.Known(750.0, dir+"hwmon/power1_cap_max"),
		ModulePowerCapW: probes.NA[float64]("the vendor gives one cap"), VBIOS: probes.Known("113-M3000100-103", dir+"vbios_version"), IFWI: probes.Unknown[string]("amd-smi not found"), DriverVersion: probes.Known("6.10.5", "/sys/module/amdgpu/version"),
		SerialHash: probes.Known(fmt.Sprintf("%08x", 0x9e3779b9*uint32(i+1)), dir+"unique_id, hashed"),
		Link:       probes.Link{GTS: probes.Known(32.0, dir+"current_link_speed"), Width: probes.Known(16, dir+"current_link_width"), MaxGTS: probes.Known(32.0, dir+"max_link_speed"), MaxWidth: probes.Known(16, dir+"max_link_width"), SlotMaxGTS: probes.Known(32.0, "parent max_link_speed"), SlotMaxWidth: probes.Known(16, "parent max_link_width")},
		NUMANode:   probes.Known(i/4, dir+"numa_node"), RenderMinor: probes.Known(128+i, "kfd drm_render_minor"),
		Partition: probes.Partition{Compute: probes.Known("SPX", dir+"current_compute_partition"), Memory: probes.Known("NPS1", dir+"current_memory_partition"), Count: probes.Known(1, "kfd nodes")},
		Kind:      probes.Known("discrete", "pci device"), MemoryType: probes.Known("HBM3", "pci device"), Usable: probes.Known(true, "kfd node"),
		ECC: probes.Known(true, dir+"ras"), Persistence: probes.NA[bool]("AMD has no persistence mode"), XGMIPeers: probes.Known(7, "kfd io_links"), NVLinks: probes.NA[int]("not an NVIDIA device"),
		Throttle: probes.List[string]{Unknown: "gpu_metrics 1.4 tells no throttle state"},
	}
}

func gpuStorage() probes.Storage {
	var st probes.Storage
	for range 7 {
		st.Devices.Items = append(st.Devices.Items, probes.Drive{Model: probes.Known("Dell Ent NVMe PM1735a MU 1.6TB", "sys block"), Bytes: probes.Known(int64(1_600_321_314_816), "sys block"), Kind: probes.Known("nvme", "sys block")})
	}
	st.Filesystems.Items = []probes.Filesystem{
		{Mount: probes.Known("/", "mountinfo"), FSType: probes.Known("ext4", "mountinfo"), Stack: probes.Known([]string{"ext4", "lvm", "nvme"}, "sys block slaves"), Bytes: probes.Known(int64(105_089_261_568), "statfs"), FreeBytes: probes.Known(int64(60_000_000_000), "statfs")},
		{Mount: probes.Known("/mnt/llm_data", "mountinfo"), FSType: probes.Known("xfs", "mountinfo"), Stack: probes.Known([]string{"xfs", "lvm", "nvme"}, "sys block slaves"), Bytes: probes.Known(int64(11_194_000_000_000), "statfs"), FreeBytes: probes.Unknown[int64]("statfs timed out")},
	}
	return st
}

func gpuNetwork() probes.Network {
	var n probes.Network
	for i := range 2 {
		speed := probes.Known(1000, "sys net speed")
		if i == 1 {
			speed = probes.NA[int]("the link is down")
		}
		n.Interfaces.Items = append(n.Interfaces.Items, probes.NIC{Name: probes.Known(fmt.Sprintf("eno%d", 8303+i*10), "sys net"), Model: probes.Known("Broadcom BCM5720", "pci ids"), SpeedMbps: speed, Up: probes.Known(i == 0, "sys net operstate"), Kind: probes.Known("ethernet", "sys net")})
	}
	return n
}

// cpuSUT is a small machine without accelerators; most of it was not probed.
func cpuSUT() probes.SUT {
	s := probes.SUT{Schema: probes.SchemaSUT, ProbedAtUS: epoch}
	s.System.Vendor, s.System.Product = probes.Known("QEMU", "dmi/id/sys_vendor"), probes.Known("Standard PC", "dmi/id/product_name")
	s.CPU.Model, s.CPU.Sockets, s.CPU.CoresPerSocket = probes.Known("AMD EPYC 7B13", "/proc/cpuinfo"), probes.Known(1, "sys cpu"), probes.Known(2, "sys cpu")
	s.Memory.Bytes = probes.Known(int64(8)<<30, "/proc/meminfo")
	s.OS.Distro, s.OS.Kernel = probes.Known("Debian GNU/Linux 12", "/etc/os-release"), probes.Known("6.1.0", "uname")
	s.Interconnect.Kind = probes.NA[string]("no accelerator")
	return s
}
