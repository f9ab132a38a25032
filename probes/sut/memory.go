package sut

// Memory is the host's RAM.
type Memory struct {
	Bytes           Fact[int64]     `json:"bytes"`            // MemTotal less GPU memory that appears as NUMA nodes
	InstalledBytes  Fact[int64]     `json:"installed_bytes"`  // sum of the DIMMs
	OnlineBytes     Fact[int64]     `json:"online_bytes"`     // memory blocks in use, with what the kernel keeps for itself
	Slots           Fact[int]       `json:"slots"`            // of the board, also empty ones
	DIMMs           List[DIMM]      `json:"dimms"`            // populated slots
	Summary         Fact[string]    `json:"summary"`          // the DIMMs in words
	ErrorCorrection Fact[string]    `json:"error_correction"` // "Multi-bit ECC" | "None" | …
	EDAC            EDAC            `json:"edac"`
	HugePages       List[HugePages] `json:"huge_pages"`
	CXL             List[CXLMemory] `json:"cxl"`
}

// DIMM is one populated slot.
type DIMM struct {
	SizeBytes     Fact[int64]  `json:"size_bytes"`     // of the module
	Type          Fact[string] `json:"type"`           // DDR5
	Module        Fact[string] `json:"module"`         // RDIMM | LRDIMM | UDIMM | SODIMM | …
	SpeedMTS      Fact[int]    `json:"speed_mts"`      // what it can
	ConfiguredMTS Fact[int]    `json:"configured_mts"` // what it runs at
	Ranks         Fact[int]    `json:"ranks"`          // of the module
	Manufacturer  Fact[string] `json:"manufacturer"`   // as it is programmed
	PartNumber    Fact[string] `json:"part_number"`    // as it is programmed
	Slot          Fact[string] `json:"slot"`           // what the board calls it
}

// EDAC is what the kernel's memory controllers count since they were loaded.
type EDAC struct {
	Controllers   Fact[int]   `json:"controllers"`   // that have a driver
	Correctable   Fact[int64] `json:"correctable"`   // errors that were corrected
	Uncorrectable Fact[int64] `json:"uncorrectable"` // errors that were not
}

// HugePages is the pool of one size of page that the kernel keeps apart.
type HugePages struct {
	SizeBytes Fact[int64] `json:"size_bytes"` // of one page
	Pages     Fact[int64] `json:"pages"`      // in the pool
	FreePages Fact[int64] `json:"free_pages"` // not in use
}

// CXLMemory is a memory device behind CXL.
type CXLMemory struct {
	Name     Fact[string] `json:"name"`      // mem0
	Bytes    Fact[int64]  `json:"bytes"`     // volatile memory of the device
	NUMANode Fact[int]    `json:"numa_node"` // of the processor it hangs on
}
