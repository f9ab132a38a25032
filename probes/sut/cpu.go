package sut

// CPU is the host's processors. Counts are of CPUs on line; those off line have no topology.
type CPU struct {
	Vendor           Fact[string]    `json:"vendor"`            // GenuineIntel, AuthenticAMD, ARM, …
	Model            Fact[string]    `json:"model"`             // with counts when models are mixed: "10 × Cortex-A725, 10 × Cortex-X925"
	FirmwareModel    Fact[string]    `json:"firmware_model"`    // the processor's name in SMBIOS
	CoreTypes        List[CoreType]  `json:"core_types"`        // one when all cores are alike
	Sockets          Fact[int]       `json:"sockets"`           // with CPUs on line
	BoardSockets     Fact[int]       `json:"board_sockets"`     // also the empty ones
	PopulatedSockets Fact[int]       `json:"populated_sockets"` // also those whose CPUs are off line
	CoresPerSocket   Fact[int]       `json:"cores_per_socket"`  // of one processor
	ThreadsPerCore   Fact[int]       `json:"threads_per_core"`  // the most of any core
	Cores            Fact[int]       `json:"cores"`             // of all sockets
	Threads          Fact[int]       `json:"threads"`           // logical CPUs of all sockets
	NUMANodes        List[NUMANode]  `json:"numa_nodes"`
	Online           Fact[string]    `json:"online"`           // "0-95"
	Offline          Fact[string]    `json:"offline"`          // na when none is
	Isolated         Fact[string]    `json:"isolated"`         // kept from the scheduler; na when none is
	NoHZFull         Fact[string]    `json:"nohz_full"`        // without a timer tick
	SMT              Fact[bool]      `json:"smt"`              // several threads of a core are in use
	SMTControl       Fact[string]    `json:"smt_control"`      // on | off | forceoff | notsupported | notimplemented
	Governor         Fact[string]    `json:"governor"`         // frequency governor, with counts where it differs between CPUs
	FrequencyDriver  Fact[string]    `json:"frequency_driver"` // intel_pstate | amd-pstate-epp | acpi-cpufreq | …
	EPP              Fact[string]    `json:"epp"`              // energy performance preference
	Boost            Fact[bool]      `json:"boost"`            // clocks above the base are allowed
	BaseMHz          Fact[int]       `json:"base_mhz"`         // the clock that the maker promises
	MaxMHz           Fact[int]       `json:"max_mhz"`          // the most that the hardware can, of the fastest core
	LimitMHz         Fact[int]       `json:"limit_mhz"`        // the most that the kernel allows, of the slowest-set core
	IdleStates       List[IdleState] `json:"idle_states"`
	Microcode        Fact[string]    `json:"microcode"` // its revision, with counts where it differs
	Caches           List[CPUCache]  `json:"caches"`
	TDPW             Fact[float64]   `json:"tdp_w"`         // of one processor
	PowerLimitW      Fact[float64]   `json:"power_limit_w"` // long-term limit in force, of one processor
}

// CoreType is a kind of core in a machine.
type CoreType struct {
	Name  Fact[string] `json:"name"`  // model, or performance | efficiency
	Cores Fact[int]    `json:"cores"` // of this kind
	CPUs  Fact[string] `json:"cpus"`  // "0-4,10-14"
}

// NUMANode is one memory node, also one without CPUs.
type NUMANode struct {
	ID        Fact[int]    `json:"id"`        // the kernel's number
	CPUs      Fact[string] `json:"cpus"`      // "0-15,64-79"
	Bytes     Fact[int64]  `json:"bytes"`     // memory of the node
	Kind      Fact[string] `json:"kind"`      // cpu | memory | gpu | cxl
	Distances Fact[string] `json:"distances"` // to each node in their order, "10 21"
}

// IdleState is a state that an idle CPU may sleep in.
type IdleState struct {
	Name      Fact[string] `json:"name"`       // POLL | C1 | C6 | …
	LatencyUS Fact[int]    `json:"latency_us"` // to wake from it
	Enabled   Fact[bool]   `json:"enabled"`    // on every CPU
}

// CPUCache is all caches of one level and type.
type CPUCache struct {
	Level     Fact[int]    `json:"level"`     // 1, 2, 3
	Type      Fact[string] `json:"type"`      // data | instruction | unified
	Bytes     Fact[int64]  `json:"bytes"`     // of all instances
	Instances Fact[int]    `json:"instances"` // how many of them there are
}
