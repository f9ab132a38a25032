package check

import (
	"fmt"
	"strings"
)

// checkKernelLog looks for faults of the hardware in the kernel's log since the boot: Xid errors of NVIDIA GPUs, resets and timeouts of AMD
// GPUs, machine checks, PCIe errors. Fails on those after which figures are not to be trusted, and warns of the others.
func checkKernelLog(r Request) (Check, bool) {
	log := r.SUT.OS.KernelLog
	if log.Unknown != "" {
		return unclear(log.Unknown), true
	}
	state, evidence, codes := OK, []string{}, []string{}
	for _, e := range log.Items {
		state = worse(state, severity(e.Code.Value))
		codes = append(codes, fmt.Sprintf("%d × %s", e.Count.Value, e.Code.Value))
		evidence = append(evidence, fmt.Sprintf("%s: %s", e.Code.Value, e.Line.Value))
	}
	if state == OK {
		return ok("The kernel logged no fault of the hardware.", evidence...), true
	}
	return Check{State: state, Text: "The kernel logged faults: " + strings.Join(codes, ", ") + ".", Evidence: evidence}, true
}

// severity says what a fault in the kernel's log means for a benchmark that follows.
func severity(code string) State {
	if strings.HasPrefix(code, "nvidia_xid_") {
		switch strings.TrimPrefix(code, "nvidia_xid_") {
		case "48", "62", "63", "64", "74", "79", "94", "95", "119", "120":
			return Fail
		}
		return Warn // most others are faults of a program, which is gone
	}
	switch code {
	case "amdgpu_oversubscribed", "pcie_corrected", "out_of_memory":
		return Warn
	}
	return Fail
}
