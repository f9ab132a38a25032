package sut

// Power is the machine's provisioned power, and what its BMC tells of the supplies.
type Power struct {
	ProvisionedW Fact[float64]     `json:"provisioned_w"` // of the whole machine, as MLPerf Endpoints reckons it
	Source       Fact[string]      `json:"source"`        // pdu | redfish | psu | estimate
	Method       Fact[string]      `json:"method"`        // how the number came about, with what was assumed
	Supplies     List[PowerSupply] `json:"supplies"`      // empty bays left out
	Redundancy   Fact[string]      `json:"redundancy"`    // "Failover, 1 of 2 needed"
	SuppliesW    Fact[float64]     `json:"supplies_w"`    // what all supplies that work can deliver together
	CapacityW    Fact[float64]     `json:"capacity_w"`    // what the BMC may give the chassis; no sum of supplies
	LimitW       Fact[float64]     `json:"limit_w"`       // that the BMC holds the chassis to
	InputW       Fact[float64]     `json:"input_w"`       // that the chassis draws now
}

// PowerSupply is one supply of a machine.
type PowerSupply struct {
	Name      Fact[string]  `json:"name"`       // the BMC's
	Model     Fact[string]  `json:"model"`      // the maker's name
	CapacityW Fact[float64] `json:"capacity_w"` // what it can deliver
	Firmware  Fact[string]  `json:"firmware"`   // its version
	State     Fact[string]  `json:"state"`      // Enabled | StandbySpare | UnavailableOffline …
	Health    Fact[string]  `json:"health"`     // OK | Warning | Critical
}
