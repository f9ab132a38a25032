package agent

import (
	"context"

	"assay/agent/verdict"
	"assay/probes"
	"assay/result"
)

// drift looks at the machine again and makes what changed or happened since the last look a reason of the point. What could not be read
// again is listed, and compared at the next look.
func (x *execution) drift(ctx context.Context, out *result.Point) {
	now := probes.ReadAgain(ctx, x.Host, x.Program, x.sut)
	for _, c := range probes.Drift(x.sut, now) {
		verdict.Blame(out, result.Reason{Code: "drift." + c.Code, Text: c.Text, Evidence: c.Evidence}, c.Kind() != probes.ChangeListed)
	}
	x.sut = probes.Remember(x.sut, now)
}

// ownProcesses takes what holds the GPUs once the server is up for the server's own.
func (x *execution) ownProcesses(ctx context.Context) {
	if len(x.sut.Accelerators.Items) > 0 {
		x.sut = probes.Settled(x.sut, probes.ReadAgain(ctx, x.Host, x.Program, x.sut))
	}
}
