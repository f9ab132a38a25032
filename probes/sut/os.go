package sut

// OS is the operating system and its state.
type OS struct {
	Distro       Fact[string]   `json:"distro"`       // name and version
	Kernel       Fact[string]   `json:"kernel"`       // its release
	Architecture Fact[string]   `json:"architecture"` // x86_64 | aarch64 | …
	Cmdline      Fact[string]   `json:"cmdline"`      // values that could hold a secret are cut
	SecureBoot   Fact[bool]     `json:"secure_boot"`  // the firmware starts signed systems alone
	Lockdown     Fact[string]   `json:"lockdown"`     // none | integrity | confidentiality
	Taint        Fact[[]string] `json:"taint"`        // why the kernel calls itself tainted: out_of_tree_module, machine_check, …
	BootHash     Fact[string]   `json:"boot_hash"`    // equal for two documents of one boot and one data folder, which keeps the salt
	UptimeS      Fact[float64]  `json:"uptime_s"`     // since the boot
	Load1        Fact[float64]  `json:"load_1m"`      // processes that run or wait, a mean over about a minute
	Load5        Fact[float64]  `json:"load_5m"`      // the same over five minutes
	Load15       Fact[float64]  `json:"load_15m"`     // the same over a quarter of an hour
	KernelLog    List[LogEvent] `json:"kernel_log"`   // what the kernel said against the hardware since the boot
	Tuning       Tuning         `json:"tuning"`
}

// LogEvent is a kind of fault in the kernel's log, counted.
type LogEvent struct {
	Code   Fact[string] `json:"code"`   // nvidia_xid_79 | amdgpu_reset | machine_check | …
	Device Fact[string] `json:"device"` // PCI address; na where the line names none
	Count  Fact[int]    `json:"count"`  // lines of this kind
	Line   Fact[string] `json:"line"`   // the last one
}

// Tuning is kernel state that moves results. Limits are those of this process.
type Tuning struct {
	NUMABalancing  Fact[bool]    `json:"numa_balancing"`  // the kernel moves pages between nodes
	THP            Fact[string]  `json:"thp"`             // always, madvise or never
	THPDefrag      Fact[string]  `json:"thp_defrag"`      // when the kernel makes room for a huge page
	Swappiness     Fact[int]     `json:"swappiness"`      // how readily memory is swapped out
	SwapBytes      Fact[int64]   `json:"swap_bytes"`      // swap space
	Overcommit     Fact[string]  `json:"overcommit"`      // heuristic | always | never
	ZoneReclaim    Fact[int]     `json:"zone_reclaim"`    // 0 when memory of other nodes is taken first
	MaxMapCount    Fact[int64]   `json:"max_map_count"`   // mappings that a process may have
	ASPM           Fact[string]  `json:"aspm"`            // power policy of PCIe links
	CPUIdle        Fact[string]  `json:"cpuidle"`         // driver of the idle states
	IOMMU          Fact[string]  `json:"iommu"`           // types of its groups with counts, or off
	Mitigations    Fact[string]  `json:"mitigations"`     // of faults of processors, counted
	Clocksource    Fact[string]  `json:"clocksource"`     // what the time is read from
	TunedProfile   Fact[string]  `json:"tuned_profile"`   // profile of tuned
	FilesLimit     Fact[int64]   `json:"files_limit"`     // open files
	MemlockBytes   Fact[int64]   `json:"memlock_bytes"`   // memory that may be locked
	StackBytes     Fact[int64]   `json:"stack_bytes"`     // of a thread
	ProcessesLimit Fact[int64]   `json:"processes_limit"` // processes and threads of the user
	CgroupCPUs     Fact[float64] `json:"cgroup_cpus"`     // CPU time allowed, in CPUs
	CgroupCPUSet   Fact[string]  `json:"cgroup_cpuset"`   // CPUs allowed, "0-7"
	CgroupBytes    Fact[int64]   `json:"cgroup_bytes"`    // memory allowed
	ClockSynced    Fact[bool]    `json:"clock_synced"`    // the kernel's clock is kept by another one
}
