package machine

import (
	"assay/probes/host"
	"assay/probes/sut"
)

// readConfidential tells whether the memory of this machine is encrypted for it, and what it could do for guests of its own.
func readConfidential(h host.Host, hypervisor sut.Fact[string]) sut.Confidential {
	return sut.Confidential{Guest: confidentialGuest(h, hypervisor), Host: confidentialHost(h)}
}

// confidentialGuest looks for the devices through which a guest asks for its attestation, and for the flag that the kernel sets in a TDX guest.
func confidentialGuest(h host.Host, hypervisor sut.Fact[string]) sut.Fact[string] {
	if hypervisor.Value == "none" {
		return sut.NA[string]("not a virtual machine")
	}
	for _, d := range []struct{ dir, name string }{
		{"/sys/class/misc/tdx_guest", "tdx"}, {"/sys/class/misc/sev-guest", "sev-snp"}, {"/sys/devices/system/cpu/sev", "sev-snp"},
	} {
		if h.IsDir(d.dir) {
			return sut.Known(d.name, d.dir)
		}
	}
	if flags, _ := cpuFlags(text(h, cpuinfo)); flags["tdx_guest"] {
		return sut.Known("tdx", cpuinfo+": tdx_guest flag")
	}
	return sut.Unknown[string]("no device of a confidential guest (/sys/class/misc/sev-guest, tdx_guest), but a guest without their drivers looks the same")
}

// confidentialHost gives the strongest that KVM offers guests; the processor's flags alone only say what firmware left on.
func confidentialHost(h host.Host) sut.Fact[string] {
	const amd, intel = "/sys/module/kvm_amd/parameters/", "/sys/module/kvm_intel/parameters/"
	found := false
	for _, p := range []struct{ file, name string }{{amd + "sev_snp", "sev-snp"}, {amd + "sev_es", "sev-es"}, {amd + "sev", "sev"}, {intel + "tdx", "tdx"}} {
		on := sut.Convert(host.TextFact(h, p.file), host.ParseSwitch)
		if on.Value {
			return sut.Known(p.name, p.file)
		}
		found = found || on.IsKnown()
	}
	switch {
	case found:
		return sut.Known("none", amd+"sev*, "+intel+"tdx")
	case h.Absent("/sys/module/kvm_amd") && h.Absent("/sys/module/kvm_intel"):
		return sut.NA[string]("KVM is not loaded")
	}
	return sut.Unknown[string]("%s* and %s* do not tell", amd, intel)
}
