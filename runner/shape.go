package runner

import (
	"assay/plan"
	"assay/runner/metrics"
)

// ShapeOf is what a summary needs to know of a plan's point. It comes from the plan and never from a result: a per-user figure cannot
// be made from a concurrency that was not asked for.
func ShapeOf(p plan.Plan, point plan.Point) metrics.Shape {
	s := metrics.Shape{Concurrency: point.Concurrency, Prefill: point.Phase == plan.PhasePrefill}
	if p.Protocol.Serve != nil {
		s.DecodeNodes = p.Protocol.Serve.DecodeNodes
	}
	return s
}
