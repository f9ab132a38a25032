package host

import "encoding/binary"

// Capabilities of PCI Express stand in a list from here on, in the part of a device's configuration that only root may read.
const (
	extendedCapabilities = 0x100
	acsCapability        = 0x0d
	acsControl           = 6 // from the capability's beginning
)

// ACSControl finds the control word of Access Control Services in a device's configuration. What a user may read ends before it.
func ACSControl(config []byte) (control uint16, found bool) {
	at := acsAt(config)
	if at == 0 {
		return 0, false
	}
	return binary.LittleEndian.Uint16(config[at+acsControl:]), true
}

// acsAt gives where the capability begins, 0 where there is none. A list that runs in a circle ends.
func acsAt(config []byte) int {
	at := extendedCapabilities
	for range len(config) / 4 {
		if at < extendedCapabilities || at+8 > len(config) {
			return 0
		}
		head := binary.LittleEndian.Uint32(config[at:])
		if head&0xffff == acsCapability {
			return at
		}
		at = int(head >> 20)
	}
	return 0
}

// onlyACS keeps of a device's configuration what ACSControl reads; serial numbers stand there too.
func onlyACS(config []byte) []byte {
	out := make([]byte, len(config))
	at := acsAt(config)
	if at == 0 {
		return out
	}
	if at != extendedCapabilities {
		binary.LittleEndian.PutUint32(out[extendedCapabilities:], uint32(at)<<20) // an empty capability that leads there
	}
	binary.LittleEndian.PutUint32(out[at:], acsCapability)
	copy(out[at+4:at+8], config[at+4:at+8])
	return out
}
