package runner

import (
	"assay/fault"
	"assay/plan"
	"assay/runner/load"
)

// pace says how the point's requests are paced.
func pace(cfg *load.Config, job Job) error {
	protocol := job.Plan.Protocol
	switch {
	case job.Point.Phase == plan.PhaseSweep && protocol.Sweep != nil:
		cfg.Closed = sweep(*protocol.Sweep, job.Point)
	case job.Point.Phase == plan.PhaseServe && protocol.Serve != nil:
		cfg.Open = serve(*protocol.Serve, job)
	case job.Point.Phase == plan.PhasePrefill && protocol.Matrix != nil:
		prefill(cfg, *protocol.Matrix)
	case job.Point.Phase == plan.PhaseDecode && protocol.Matrix != nil:
		decode(cfg, *protocol.Matrix, job.Point)
	default:
		return fault.New(fault.Plan, "point", "", "point %s has the phase %q, which is none of its plan's", job.Point.ID, job.Point.Phase)
	}
	return nil
}

// sweep ends a point at its shortest duration where nothing else ends it.
func sweep(s plan.Sweep, p plan.Point) *load.Closed {
	length := s.Duration
	if length == 0 && s.Requests == 0 && s.Trajectories == 0 {
		length = s.MinDuration
	}
	return &load.Closed{
		Concurrency: p.Concurrency, Requests: s.Requests, Trajectories: s.Trajectories, Duration: length.Std(), MinDuration: s.MinDuration.Std(),
		WarmupRequests: s.Warmup.Requests, WarmupDuration: s.Warmup.Duration.Std(), WarmupStable: s.Warmup.Stable, WarmupTimeout: s.Warmup.Timeout.Std(),
	}
}

func serve(s plan.Serve, job Job) *load.Open {
	o := &load.Open{
		Rate: job.Point.Rate, Arrival: s.Arrival, Speed: job.Point.Speed, Burstiness: s.Burstiness, Seed: job.Plan.Workload.Seed,
		MaxConcurrency: s.MaxConcurrency, Requests: s.Requests, Duration: s.Duration.Std(),
		Warmup: s.Window.Warmup.Std(), Cooldown: s.Window.Cooldown.Std(),
	}
	if r := s.Ramp; r != nil {
		o.Ramp = &load.Ramp{From: r.From, Over: r.Over.Std(), Exponential: r.Shape == "exponential"}
	}
	return o
}
