package sut

import "strings"

// Storage is drives and what is mounted on them.
type Storage struct {
	Devices     List[Drive]      `json:"devices"`
	Filesystems List[Filesystem] `json:"filesystems"`
}

// Drive is a physical drive, once however many paths lead to it.
type Drive struct {
	Model     Fact[string] `json:"model"`     // the maker's name
	Bytes     Fact[int64]  `json:"bytes"`     // what it holds
	Kind      Fact[string] `json:"kind"`      // nvme | ssd | hdd
	Name      Fact[string] `json:"name"`      // the kernel's: nvme0n1
	Firmware  Fact[string] `json:"firmware"`  // its version
	Transport Fact[string] `json:"transport"` // pcie | tcp | rdma | fc | sata | sas | usb | iscsi | virtio | xen | mmc
	Scheduler Fact[string] `json:"scheduler"` // of the kernel's queue: none | mq-deadline | …
	Link      Link         `json:"link"`      // PCIe, of a drive that has one of its own
	Health    Health       `json:"health"`
}

// Health is what a drive says of itself.
type Health struct {
	State           Fact[string] `json:"state"`            // of the controller, "live" when it works
	Passed          Fact[bool]   `json:"passed"`           // the drive's own verdict
	CriticalWarning Fact[int]    `json:"critical_warning"` // bits of NVMe's health log, 0 when all is well
	UsedPct         Fact[int]    `json:"used_pct"`         // of the endurance the maker promises
	MediaErrors     Fact[int64]  `json:"media_errors"`     // that the drive could not correct
}

// Filesystem is a mount on a block device or network file system, once per device.
type Filesystem struct {
	Mount       Fact[string]   `json:"mount"`        // where it is mounted
	FSType      Fact[string]   `json:"fstype"`       // xfs, ext4, nfs4, …
	Stack       Fact[[]string] `json:"stack"`        // from the mount down: ["xfs","lvm","nvme"]
	Bytes       Fact[int64]    `json:"bytes"`        // its size
	FreeBytes   Fact[int64]    `json:"free_bytes"`   // what a user may still write
	Mounts      Fact[[]string] `json:"mounts"`       // every place where it is mounted, Mount first: bind mounts show a folder of it
	Device      Fact[string]   `json:"device"`       // the kernel's name of the block device: dm-0
	DeviceBytes Fact[int64]    `json:"device_bytes"` // of that device, which may be larger than the file system
	Drives      Fact[int]      `json:"drives"`       // physical drives below, each once
	Degraded    Fact[int]      `json:"degraded"`     // members that the arrays below lack
	Options     Fact[string]   `json:"options"`      // of the mount, those that move results
	Summary     Fact[string]   `json:"summary"`      // "XFS on LVM (/mnt/data; 7 × NVMe)"
}

// PlaceOf is the longest place of a file system below which a path lies, "" where it is elsewhere; a bind mount shows a folder of it.
func (f Filesystem) PlaceOf(path string) (longest string) {
	places := f.Mounts.Value
	if f.Mount.IsKnown() {
		places = append([]string{f.Mount.Value}, places...)
	}
	for _, place := range places {
		if strings.HasPrefix(path+"/", strings.TrimSuffix(place, "/")+"/") && len(place) > len(longest) {
			longest = place
		}
	}
	return longest
}
