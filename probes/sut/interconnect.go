package sut

// Interconnect is how accelerators reach each other.
type Interconnect struct {
	Kind     Fact[string] `json:"kind"`           // xgmi | nvlink | pcie
	Links    List[string] `json:"links"`          // pairs of devices with their link
	Hives    Fact[int]    `json:"hives"`          // groups of devices that reach each other
	Switches Fact[int]    `json:"switches"`       // NVSwitches on the bus
	Manager  Fact[string] `json:"fabric_manager"` // running | not running
}
