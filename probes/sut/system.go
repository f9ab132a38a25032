package sut

// System is the machine and its firmware.
type System struct {
	Vendor         Fact[string] `json:"vendor"`  // maker of the machine
	Product        Fact[string] `json:"product"` // the maker's name for it
	Version        Fact[string] `json:"version"` // of the product; some makers put the name people know here
	Board          Fact[string] `json:"board"`   // maker and name of the main board
	BIOS           BIOS         `json:"bios"`
	BMC            Fact[string] `json:"bmc"`            // firmware of the management controller
	Chassis        Fact[string] `json:"chassis"`        // form of the case: rack mount chassis, tower, …
	Virtualization Fact[string] `json:"virtualization"` // the innermost layer, as systemd-detect-virt says it
	Hypervisor     Fact[string] `json:"hypervisor"`     // kvm | vmware | …; none on bare metal
	Container      Fact[string] `json:"container"`      // docker | podman | lxc | …; none outside of containers
	Confidential   Confidential `json:"confidential"`
}

// BIOS is the system firmware.
type BIOS struct {
	Vendor  Fact[string] `json:"vendor"`  // who wrote the firmware
	Version Fact[string] `json:"version"` // of the firmware
	Date    Fact[string] `json:"date"`    // 2025-07-11
}

// Confidential is confidential computing: what encrypts this machine's memory, and what it offers its guests.
type Confidential struct {
	Guest Fact[string] `json:"guest"` // sev-snp | tdx; unknown in a guest whose drivers do not show it
	Host  Fact[string] `json:"host"`  // sev-snp | sev-es | sev | tdx | none: the strongest that KVM offers
}
