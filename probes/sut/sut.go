package sut

// SchemaSUT is the schema name of the SUT document.
const SchemaSUT = "assay.sut/v1"

// Program names the program that wrote a document.
type Program struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
}

// SUT is the system under test as the probes saw it: the document `assay probe --json` prints.
type SUT struct {
	Schema       string            `json:"schema"`
	ProbedAtUS   int64             `json:"probed_at_us"` // UTC, microseconds
	Program      Program           `json:"program"`
	System       System            `json:"system"`
	CPU          CPU               `json:"cpu"`
	Memory       Memory            `json:"memory"`
	Accelerators List[Accelerator] `json:"accelerators"` // one per physical device, in the order of PCI addresses
	Interconnect Interconnect      `json:"interconnect"`
	Storage      Storage           `json:"storage"`
	Network      Network           `json:"network"`
	OS           OS                `json:"os"`
	Software     Software          `json:"software"`
	Power        Power             `json:"power"`
}

// System is the machine and its firmware.
type System struct {
	Vendor         Fact[string] `json:"vendor"`
	Product        Fact[string] `json:"product"`
	BIOS           BIOS         `json:"bios"`
	BMC            Fact[string] `json:"bmc"`
	Chassis        Fact[string] `json:"chassis"`
	Virtualization Fact[string] `json:"virtualization"` // as systemd-detect-virt says it
}

// BIOS is the system firmware.
type BIOS struct {
	Version Fact[string] `json:"version"`
	Date    Fact[string] `json:"date"` // 2025-07-11
}

// CPU is the host's processors.
type CPU struct {
	Vendor         Fact[string]   `json:"vendor"`
	Model          Fact[string]   `json:"model"`
	Sockets        Fact[int]      `json:"sockets"`
	CoresPerSocket Fact[int]      `json:"cores_per_socket"`
	ThreadsPerCore Fact[int]      `json:"threads_per_core"`
	NUMANodes      List[NUMANode] `json:"numa_nodes"`
	Governor       Fact[string]   `json:"governor"`
	SMT            Fact[bool]     `json:"smt"`
}

// NUMANode is one memory node, also one without CPUs.
type NUMANode struct {
	ID    Fact[int]    `json:"id"`
	CPUs  Fact[string] `json:"cpus"` // "0-15,64-79"
	Bytes Fact[int64]  `json:"bytes"`
	Kind  Fact[string] `json:"kind"` // cpu | memory | gpu
}

// Memory is the host's RAM.
type Memory struct {
	Bytes          Fact[int64]  `json:"bytes"`           // MemTotal less GPU memory that appears as NUMA nodes
	InstalledBytes Fact[int64]  `json:"installed_bytes"` // sum of the DIMMs
	Slots          Fact[int]    `json:"slots"`
	DIMMs          List[DIMM]   `json:"dimms"` // populated slots
	Summary        Fact[string] `json:"summary"`
}

// DIMM is one populated slot.
type DIMM struct {
	SizeBytes     Fact[int64]  `json:"size_bytes"`
	Type          Fact[string] `json:"type"`
	SpeedMTS      Fact[int]    `json:"speed_mts"`
	ConfiguredMTS Fact[int]    `json:"configured_mts"`
	Slot          Fact[string] `json:"slot"`
}

// Accelerator is one physical device.
type Accelerator struct {
	Vendor          Fact[string]     `json:"vendor"` // AMD | NVIDIA
	Name            Fact[string]     `json:"name"`
	PCI             PCI              `json:"pci"`
	Arch            Fact[string]     `json:"arch"` // gfx942 | sm_90
	VRAMBytes       Fact[int64]      `json:"vram_bytes"`
	ComputeUnits    Fact[int]        `json:"compute_units"`
	PowerCapW       Fact[float64]    `json:"power_cap_w"`
	PowerDefaultW   Fact[float64]    `json:"power_default_w"`
	PowerMinW       Fact[float64]    `json:"power_min_w"`
	PowerMaxW       Fact[float64]    `json:"power_max_w"`
	ModulePowerCapW Fact[float64]    `json:"module_power_cap_w"`
	VBIOS           Fact[string]     `json:"vbios"`
	IFWI            Fact[string]     `json:"ifwi"`
	DriverVersion   Fact[string]     `json:"driver_version"`
	SerialHash      Fact[string]     `json:"serial_hash"`
	Link            Link             `json:"link"`
	NUMANode        Fact[int]        `json:"numa_node"`
	RenderMinor     Fact[int]        `json:"render_minor"`
	Partition       Partition        `json:"partition"`
	ECC             Fact[bool]       `json:"ecc"`
	Persistence     Fact[bool]       `json:"persistence"`
	XGMIPeers       Fact[int]        `json:"xgmi_peers"`
	NVLinks         Fact[int]        `json:"nvlinks"` // active links
	Throttle        List[string]     `json:"throttle"`
	Processes       List[GPUProcess] `json:"processes"`
}

// PCI is a device's place on the bus; addresses "0000:1b:00.0", ids "0x74a1", lower case.
type PCI struct {
	Address     Fact[string] `json:"address"`
	DeviceID    Fact[string] `json:"device_id"`
	SubsystemID Fact[string] `json:"subsystem_id"`
}

// Link is a PCIe link: what it runs at, what the device can, what its slot can.
type Link struct {
	GTS          Fact[float64] `json:"gts"`
	Width        Fact[int]     `json:"width"`
	MaxGTS       Fact[float64] `json:"max_gts"`
	MaxWidth     Fact[int]     `json:"max_width"`
	SlotMaxGTS   Fact[float64] `json:"slot_max_gts"`
	SlotMaxWidth Fact[int]     `json:"slot_max_width"`
}

// Partition is how a device is divided.
type Partition struct {
	Compute   Fact[string] `json:"compute"` // SPX | CPX | … | MIG
	Memory    Fact[string] `json:"memory"`  // NPS1 | NPS4
	Count     Fact[int]    `json:"count"`   // 1 when whole
	Instances List[string] `json:"instances"`
}

// GPUProcess is a process that holds a device.
type GPUProcess struct {
	PID       Fact[int]    `json:"pid"`
	Name      Fact[string] `json:"name"`
	VRAMBytes Fact[int64]  `json:"vram_bytes"`
}

// Interconnect is how accelerators reach each other.
type Interconnect struct {
	Kind  Fact[string] `json:"kind"` // xgmi | nvlink | pcie
	Links List[string] `json:"links"`
	Hives Fact[int]    `json:"hives"`
}

// Storage is drives and what is mounted on them.
type Storage struct {
	Devices     List[Drive]      `json:"devices"`
	Filesystems List[Filesystem] `json:"filesystems"`
}

// Drive is a physical drive.
type Drive struct {
	Model Fact[string] `json:"model"`
	Bytes Fact[int64]  `json:"bytes"`
	Kind  Fact[string] `json:"kind"` // nvme | ssd | hdd
}

// Filesystem is a mount on a block device or network file system, once per device.
type Filesystem struct {
	Mount     Fact[string]   `json:"mount"`
	FSType    Fact[string]   `json:"fstype"`
	Stack     Fact[[]string] `json:"stack"` // from the mount down: ["xfs","lvm","nvme"]
	Bytes     Fact[int64]    `json:"bytes"`
	FreeBytes Fact[int64]    `json:"free_bytes"`
}

// Network is NICs and InfiniBand/RoCE ports.
type Network struct {
	Interfaces List[NIC]        `json:"interfaces"`
	InfiniBand List[InfiniBand] `json:"infiniband"`
}

// NIC is a network interface.
type NIC struct {
	Name      Fact[string] `json:"name"`
	Model     Fact[string] `json:"model"`
	SpeedMbps Fact[int]    `json:"speed_mbps"`
	Up        Fact[bool]   `json:"up"`
	Kind      Fact[string] `json:"kind"` // ethernet | bond | bridge | vlan | virtual | …
}

// InfiniBand is one port of a host channel adapter.
type InfiniBand struct {
	Name      Fact[string]  `json:"name"`
	RateGbps  Fact[float64] `json:"rate_gbps"`
	State     Fact[string]  `json:"state"`
	LinkLayer Fact[string]  `json:"link_layer"`
	Firmware  Fact[string]  `json:"firmware"`
}

// OS is the operating system and its state.
type OS struct {
	Distro  Fact[string] `json:"distro"`
	Kernel  Fact[string] `json:"kernel"`
	Cmdline Fact[string] `json:"cmdline"` // values that could hold a secret are cut
	Tuning  Tuning       `json:"tuning"`
}

// Tuning is kernel state that moves results.
type Tuning struct {
	NUMABalancing Fact[bool]    `json:"numa_balancing"`
	THP           Fact[string]  `json:"thp"`
	Swappiness    Fact[int]     `json:"swappiness"`
	SwapBytes     Fact[int64]   `json:"swap_bytes"`
	ASPM          Fact[string]  `json:"aspm"`
	CPUIdle       Fact[string]  `json:"cpuidle"`
	IOMMU         Fact[string]  `json:"iommu"`
	Mitigations   Fact[string]  `json:"mitigations"`
	FilesLimit    Fact[int64]   `json:"files_limit"`
	MemlockBytes  Fact[int64]   `json:"memlock_bytes"`
	CgroupCPUs    Fact[float64] `json:"cgroup_cpus"`
	CgroupBytes   Fact[int64]   `json:"cgroup_bytes"`
	ClockSynced   Fact[bool]    `json:"clock_synced"`
}

// Software is drivers and container tools of the host.
type Software struct {
	AMDGPU           Fact[string] `json:"amdgpu"`
	ROCm             Fact[string] `json:"rocm"`
	CUDA             Fact[string] `json:"cuda"` // what the driver supports
	NVIDIADriver     Fact[string] `json:"nvidia_driver"`
	Docker           Fact[string] `json:"docker"`
	Containerd       Fact[string] `json:"containerd"`
	ContainerToolkit Fact[string] `json:"container_toolkit"`
}

// Power is the machine's provisioned power.
type Power struct {
	ProvisionedW Fact[float64] `json:"provisioned_w"`
	Source       Fact[string]  `json:"source"` // pdu | redfish | psu | estimate
	Method       Fact[string]  `json:"method"`
}
