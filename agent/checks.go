package agent

import (
	"context"
	"path/filepath"

	"assay/agent/fit"
	"assay/agent/proof"
	"assay/containers"
	"assay/plan"
	"assay/probes"
)

// CheckPlan tells why a plan could be executed on no machine. It asks nothing of this one.
func CheckPlan(p plan.Plan) error { return fit.Plan(p) }

// CheckRequest is what a plan asks of the checks on a machine that was read.
func CheckRequest(ctx context.Context, h probes.Host, s probes.SUT, p plan.Plan) probes.CheckRequest {
	r := probes.CheckRequest{SUT: s, Wanted: proof.Others(p.Checks)}
	if name, err := filepath.Abs(p.Model.Path); p.Model.Path != "" && err == nil {
		if r.ModelPath, err = h.Real(name); err != nil { // a folder of models is often a link to another drive
			r.ModelPath = name
		}
		r.ModelGone = h.Live && h.Absent(r.ModelPath)
		r.ModelPath = h.SafePaths()(r.ModelPath) // mounts stand so in the SUT
	}
	if p.Server.Image != "" {
		image := probes.ReadImage(ctx, h, p.Server.Image)
		r.Image = &image
	}
	if h.Live {
		r.PortHolder = containers.PortHolder
	}
	for i := range max(1, p.Server.Replicas) {
		if p.Server.Port != 0 {
			r.Ports = append(r.Ports, p.Server.Port+i)
		}
	}
	return r
}
