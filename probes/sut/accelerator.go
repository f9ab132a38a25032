package sut

// Accelerator is one physical device.
type Accelerator struct {
	Vendor           Fact[string]          `json:"vendor"` // AMD | NVIDIA | Intel | the bus's name of another
	Kind             Fact[string]          `json:"kind"`   // discrete | integrated: part of the processor
	Usable           Fact[bool]            `json:"usable"` // its driver answers for it; false for one that is on the bus alone
	Name             Fact[string]          `json:"name"`   // of the product
	PCI              PCI                   `json:"pci"`
	Arch             Fact[string]          `json:"arch"`               // gfx942 | sm_90
	VirtualFunction  Fact[bool]            `json:"virtual_function"`   // a part of a device that its host divides
	Virtualization   Fact[string]          `json:"virtualization"`     // none | pass-through | vgpu | host vgpu, as its driver says
	VRAMBytes        Fact[int64]           `json:"vram_bytes"`         // memory of the device, as its driver tells it
	VRAMUsedBytes    Fact[int64]           `json:"vram_used_bytes"`    // in use now
	UnifiedMemory    Fact[bool]            `json:"unified_memory"`     // its memory is the system's too
	MemoryType       Fact[string]          `json:"memory_type"`        // HBM3 | GDDR6
	MemoryVendor     Fact[string]          `json:"memory_vendor"`      // who made the memory
	ComputeUnits     Fact[int]             `json:"compute_units"`      // compute units or streaming multiprocessors, of all partitions
	PowerCapW        Fact[float64]         `json:"power_cap_w"`        // limit in force
	PowerDefaultW    Fact[float64]         `json:"power_default_w"`    // the factory's limit
	PowerMinW        Fact[float64]         `json:"power_min_w"`        // lowest limit that can be set
	PowerMaxW        Fact[float64]         `json:"power_max_w"`        // highest limit that can be set
	PowerCapSettable Fact[bool]            `json:"power_cap_settable"` // a limit can be set from here
	ModulePowerCapW  Fact[float64]         `json:"module_power_cap_w"` // limit of the module that holds GPU and processor
	VBIOS            Fact[string]          `json:"vbios"`              // part number of the firmware image
	IFWI             Fact[string]          `json:"ifwi"`               // AMD's newer version of the same
	Firmware         List[Firmware]        `json:"firmware"`
	DriverVersion    Fact[string]          `json:"driver_version"` // of the kernel's driver
	DriverKind       Fact[string]          `json:"driver_kind"`    // open | proprietary | in-tree | dkms
	SerialHash       Fact[string]          `json:"serial_hash"`    // tells devices apart and names none
	Link             Link                  `json:"link"`
	LinkErrors       LinkErrors            `json:"link_errors"`
	NUMANode         Fact[int]             `json:"numa_node"`    // the nearest
	RenderMinor      Fact[int]             `json:"render_minor"` // number of its render node
	Partition        Partition             `json:"partition"`
	ECC              Fact[bool]            `json:"ecc"` // error correction of its memory is on
	RAS              RAS                   `json:"ras"`
	Persistence      Fact[bool]            `json:"persistence"`            // NVIDIA's driver keeps it ready
	ComputeMode      Fact[string]          `json:"compute_mode"`           // default | exclusive process | prohibited
	Confidential     Fact[string]          `json:"confidential_computing"` // off | on | protected pcie
	RuntimeStatus    Fact[string]          `json:"runtime_status"`         // active | suspended: one that sleeps is not woken to read it
	PerfLevel        Fact[string]          `json:"perf_level"`             // auto | high | manual: who chooses the clocks
	Clocks           Clocks                `json:"clocks"`
	Temperatures     Temperatures          `json:"temperatures"`
	UtilPct          Fact[float64]         `json:"util_pct"`   // of the time in which it computed, now
	PowerW           Fact[float64]         `json:"power_w"`    // that it draws now
	XGMIPeers        Fact[int]             `json:"xgmi_peers"` // devices that it reaches by XGMI in one hop
	NVLinks          Fact[int]             `json:"nvlinks"`    // active links
	P2PPeers         Fact[int]             `json:"p2p_peers"`  // devices whose memory it reaches by itself, over any link
	Fabric           Fabric                `json:"fabric"`
	Throttle         List[string]          `json:"throttle"` // why clocks are held down now
	ThrottleCounters List[ThrottleCounter] `json:"throttle_counters"`
	Processes        List[GPUProcess]      `json:"processes"`
}

// PCI is a device's place on the bus; addresses "0000:1b:00.0", ids "0x74a1", lower case.
type PCI struct {
	Address           Fact[string] `json:"address"`             // on the bus
	DeviceID          Fact[string] `json:"device_id"`           // of the product
	SubsystemID       Fact[string] `json:"subsystem_id"`        // of the board
	SubsystemVendorID Fact[string] `json:"subsystem_vendor_id"` // who made the board
	Revision          Fact[string] `json:"revision"`            // 0xc0
}

// Link is a PCIe link: what it runs at, what the device can, what its slot can.
type Link struct {
	GTS          Fact[float64] `json:"gts"`            // rate of a lane now, the slowest on the way to the root port
	Width        Fact[int]     `json:"width"`          // lanes in use
	MaxGTS       Fact[float64] `json:"max_gts"`        // what the device can
	MaxWidth     Fact[int]     `json:"max_width"`      // what the device can
	SlotMaxGTS   Fact[float64] `json:"slot_max_gts"`   // what the port above can
	SlotMaxWidth Fact[int]     `json:"slot_max_width"` // what the port above can
	ACSRedirect  Fact[bool]    `json:"acs_redirect"`   // a bridge above sends what devices say to each other by the root complex
}

// LinkErrors counts what went wrong on a PCIe link since the device or its driver started.
type LinkErrors struct {
	Replays         Fact[int64] `json:"replays"`          // packets that were sent again
	ReplayRollovers Fact[int64] `json:"replay_rollovers"` // replays that came to nothing, so that the link was trained anew
	NAKsSent        Fact[int64] `json:"naks_sent"`        // packets that were refused
	NAKsReceived    Fact[int64] `json:"naks_received"`    // packets that the other end refused
	Recoveries      Fact[int64] `json:"recoveries"`       // from L0, where data runs, to recovery
	AERCorrectable  Fact[int64] `json:"aer_correctable"`  // errors that the link corrected
	AERNonfatal     Fact[int64] `json:"aer_nonfatal"`     // errors that lost a transfer
	AERFatal        Fact[int64] `json:"aer_fatal"`        // errors that lost the link
}

// Firmware is a part of a device's firmware.
type Firmware struct {
	Name    Fact[string] `json:"name"`    // smc | sdma | vcn
	Version Fact[string] `json:"version"` // of that part
}

// RAS counts errors of a device's memories and of what they led to. Counters begin with the driver, pages stay over boots.
type RAS struct {
	Correctable         Fact[int64]  `json:"correctable"`            // errors that were corrected since the driver started
	Uncorrectable       Fact[int64]  `json:"uncorrectable"`          // errors that were not, since the driver started
	LifeCorrectable     Fact[int64]  `json:"lifetime_correctable"`   // since the device was made
	LifeUncorrectable   Fact[int64]  `json:"lifetime_uncorrectable"` // errors that were not, since the device was made
	FabricUncorrectable Fact[int64]  `json:"fabric_uncorrectable"`   // of the links between GPUs; part of uncorrectable
	BadPages            Fact[int]    `json:"bad_pages"`              // retired pages, or remapped rows
	PendingPages        Fact[int]    `json:"pending_pages"`          // to be retired or remapped at the next reset
	RemapFailed         Fact[bool]   `json:"remap_failed"`           // a row could not be remapped: the device is to be replaced
	RecoveryAction      Fact[string] `json:"recovery_action"`        // none | reset | reboot | drain …
}

// Clocks are a device's, now and at most.
type Clocks struct {
	GfxMHz    Fact[float64] `json:"gfx_mhz"`         // the mean over the dies
	GfxMinMHz Fact[float64] `json:"gfx_min_die_mhz"` // the slowest die, where there are several
	GfxMaxMHz Fact[float64] `json:"gfx_max_mhz"`     // the most that is set or possible
	MemMHz    Fact[float64] `json:"mem_mhz"`         // of the memory
	MemMaxMHz Fact[float64] `json:"mem_max_mhz"`     // of the memory, at most
	AppGfxMHz Fact[float64] `json:"app_gfx_mhz"`     // what an operator allows applications
	AppMemMHz Fact[float64] `json:"app_mem_mhz"`     // of the memory, that applications are given
}

// Temperatures are a device's, now; the limits are those at which it slows down or switches off.
type Temperatures struct {
	EdgeC         Fact[float64] `json:"edge_c"`          // or the one of the chip, where there is one
	EdgeLimitC    Fact[float64] `json:"edge_limit_c"`    // at which it slows down
	MarginC       Fact[float64] `json:"margin_c"`        // from the hottest part to its limit, where that is told in place of the limit
	HotspotC      Fact[float64] `json:"hotspot_c"`       // hottest spot of the chip
	MemC          Fact[float64] `json:"mem_c"`           // of the memory
	HotspotLimitC Fact[float64] `json:"hotspot_limit_c"` // at which it slows down
	MemLimitC     Fact[float64] `json:"mem_limit_c"`     // at which it slows down
}

// Fabric is a device's own links to other devices, XGMI or NVLink.
type Fabric struct {
	LinksUp   Fact[int]     `json:"links_up"`   // that carry data
	LinksDown Fact[int]     `json:"links_down"` // that should and do not
	LinkGbps  Fact[float64] `json:"link_gbps"`  // of one link, one direction
	State     Fact[string]  `json:"state"`      // of a switched fabric: completed
	Status    Fact[string]  `json:"status"`     // of how it got there: success
	Health    Fact[string]  `json:"health"`     // of the links through it: healthy
}

// ThrottleCounter counts how long clocks were held down for one reason. The share of the time between two reads is the growth of Ticks
// over the growth of OfTicks; ticks are the device's own, µs where they are a time.
type ThrottleCounter struct {
	Reason  Fact[string] `json:"reason"`   // power | thermal | mem_thermal | vr_thermal | prochot | power_brake …
	Ticks   Fact[int64]  `json:"ticks"`    // for which the reason held
	OfTicks Fact[int64]  `json:"of_ticks"` // that went by; it does not apply where ticks are µs
}

// Partition is how a device is divided.
type Partition struct {
	Compute          Fact[string] `json:"compute"`           // SPX | CPX | … | MIG
	Memory           Fact[string] `json:"memory"`            // NPS1 | NPS4
	Count            Fact[int]    `json:"count"`             // 1 when whole
	Instances        List[string] `json:"instances"`         // partitions by render node, NVIDIA's instances by profile, a host's virtual functions
	AvailableCompute List[string] `json:"available_compute"` // modes that can be set
	AvailableMemory  List[string] `json:"available_memory"`  // modes that can be set
	ComputeUnits     Fact[int]    `json:"compute_units"`     // of one instance
	VRAMBytes        Fact[int64]  `json:"vram_bytes"`        // that one instance can use
}

// GPUProcess is a process that holds a device.
type GPUProcess struct {
	PID       Fact[int]    `json:"pid"`        // of the host
	Name      Fact[string] `json:"name"`       // of the program
	VRAMBytes Fact[int64]  `json:"vram_bytes"` // that it holds
}
