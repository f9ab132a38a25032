package sut

// Network is NICs and InfiniBand/RoCE ports.
type Network struct {
	Interfaces List[NIC]        `json:"interfaces"`
	InfiniBand List[InfiniBand] `json:"infiniband"`
	Listening  Fact[[]int]      `json:"listening"` // TCP ports that something listens on
	Summary    Fact[string]     `json:"summary"`   // "2 × BCM5720 1GbE (one link up); no InfiniBand"
}

// NIC is a network interface.
type NIC struct {
	Name        Fact[string]   `json:"name"`         // the kernel's
	Model       Fact[string]   `json:"model"`        // the maker's name
	SpeedMbps   Fact[int]      `json:"speed_mbps"`   // of the link now
	Up          Fact[bool]     `json:"up"`           // it carries data
	Kind        Fact[string]   `json:"kind"`         // ethernet | bond | bridge | vlan | virtual | …
	Driver      Fact[string]   `json:"driver"`       // of the kernel
	Firmware    Fact[string]   `json:"firmware"`     // its version
	MTU         Fact[int]      `json:"mtu"`          // largest packet, in bytes
	MaxMbps     Fact[int]      `json:"max_mbps"`     // the fastest mode of the port
	Master      Fact[string]   `json:"master"`       // bond or bridge that it belongs to
	Members     Fact[[]string] `json:"members"`      // of a bond, bridge or VLAN: what lies below
	VLAN        Fact[int]      `json:"vlan"`         // its number
	VFs         Fact[int]      `json:"vfs"`          // virtual functions in use
	PCI         Fact[string]   `json:"pci"`          // address on the bus
	NUMANode    Fact[int]      `json:"numa_node"`    // the nearest
	NearGPUs    Fact[[]string] `json:"near_gpus"`    // PCI addresses of the accelerators with the shortest way
	GPUDistance Fact[string]   `json:"gpu_distance"` // of that way: PIX | PXB | PHB | NODE | SYS
}

// InfiniBand is one port of a host channel adapter.
type InfiniBand struct {
	Name        Fact[string]   `json:"name"`         // of the adapter
	RateGbps    Fact[float64]  `json:"rate_gbps"`    // of the link
	State       Fact[string]   `json:"state"`        // ACTIVE, INIT, DOWN, …
	LinkLayer   Fact[string]   `json:"link_layer"`   // InfiniBand or Ethernet
	Firmware    Fact[string]   `json:"firmware"`     // its version
	Model       Fact[string]   `json:"model"`        // ConnectX-7
	Board       Fact[string]   `json:"board"`        // the maker's id of the card
	Kind        Fact[string]   `json:"kind"`         // InfiniBand | RoCE | Omni-Path
	PhysState   Fact[string]   `json:"phys_state"`   // LinkUp, Polling, Disabled, …
	NetDev      Fact[string]   `json:"netdev"`       // the network interface of the same port
	PCI         Fact[string]   `json:"pci"`          // address on the bus
	NUMANode    Fact[int]      `json:"numa_node"`    // the nearest
	NearGPUs    Fact[[]string] `json:"near_gpus"`    // PCI addresses of the accelerators with the shortest way
	GPUDistance Fact[string]   `json:"gpu_distance"` // of that way: PIX, PXB, PHB, NODE, SYS
	Counters    PortCounters   `json:"counters"`
}

// PortCounters count since the port was reset. One that stands at the most it can count is unknown.
type PortCounters struct {
	RxBytes        Fact[int64] `json:"rx_bytes"`        // received
	TxBytes        Fact[int64] `json:"tx_bytes"`        // sent
	RxErrors       Fact[int64] `json:"rx_errors"`       // packets that came in broken
	SymbolErrors   Fact[int64] `json:"symbol_errors"`   // errors on the wire
	LinkDowned     Fact[int64] `json:"link_downed"`     // times that the link was lost
	LinkRecoveries Fact[int64] `json:"link_recoveries"` // times that the link was trained anew
}
