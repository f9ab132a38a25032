package pci

import (
	"assay/probes/host"
	"assay/probes/sut"
)

// Bits of the control word of Access Control Services that send requests and answers between devices up to the root complex.
const acsRedirects = 1<<2 | 1<<3

// redirect tells whether a bridge on the way to the root port keeps devices below it from speaking to each other. A user sees the first
// 64 bytes of a configuration, which does not tell.
func redirect(h host.Host, bridges []string) sut.Fact[bool] {
	for _, bridge := range bridges {
		config, err := h.Read(bridge + "/config")
		switch {
		case err != nil:
			return sut.Unknown[bool]("%s", err)
		case len(config) <= 64:
			return sut.Unknown[bool]("needs root (%s/config shows its first %d bytes)", bridge, len(config))
		}
		if control, found := host.ACSControl(config); found && control&acsRedirects != 0 {
			return sut.Known(true, bridge+"/config")
		}
	}
	return sut.Known(false, bridges[0]+"/config and those above")
}
