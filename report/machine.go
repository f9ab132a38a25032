package report

import (
	"io"

	"assay/probes"
	"assay/report/machine"
)

// SUTText writes a machine for a terminal: the summary by chapters, then what is not known and why.
func SUTText(w io.Writer, s probes.SUT) { machine.WriteText(w, s) }

// ChecksText writes readiness checks like a doctor's report: what needs attention first, each with its evidence and what to do.
func ChecksText(w io.Writer, checks []probes.Check) { machine.WriteChecks(w, checks) }
