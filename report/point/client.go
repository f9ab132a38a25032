package point

import "assay/runner/metrics"

// LagText writes one of a client's lags; "" for a client that measured no request.
func LagText(c metrics.Client, us float64, form func(float64) string) string {
	if c.LagUS == (metrics.Lag{}) {
		return ""
	}
	return form(us)
}

// CPUText writes a client's CPU time; "" where the system does not tell it.
func CPUText(c metrics.Client, form func(float64) string) string {
	if c.CPUS == 0 {
		return ""
	}
	return form(c.CPUS)
}
