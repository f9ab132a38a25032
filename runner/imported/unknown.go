package imported

import (
	"assay/plan"
	"assay/runner"
	"assay/runner/metrics"
)

func shapeOf(p plan.Point) metrics.Shape { return metrics.Shape{Concurrency: p.Concurrency} }

// forget takes out the figures that the tool's requests cannot give, although a recording of them has room for them.
func forget(u Unknown, r *runner.Reading) {
	for _, s := range []*metrics.Summary{&r.Metrics, r.MLPerf} {
		if s != nil {
			forgetIn(u, s)
		}
	}
}

func forgetIn(u Unknown, s *metrics.Summary) {
	if u.Gaps || u.Tokens {
		s.ITLMS = nil
	}
	if u.Queue {
		s.QueueMS = nil
	}
	if u.Tokens {
		s.TPOTMS, s.TPSPerUserTPOT, s.TPSPerRequest = nil, nil, nil
	}
	if u.Tokens || u.Some {
		s.OutputTokens, s.SystemTPS, s.SystemTPSCompleted, s.TotalTPS, s.TPSPerUser = nil, nil, nil, nil, nil
	}
	if u.Tokens {
		s.AvgOutputTokens = nil
	}
	if u.Some {
		s.QPS, s.InputTokens, s.CachedTokens, s.ActiveMean = nil, nil, nil, nil
	}
}
