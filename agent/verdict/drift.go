package verdict

import (
	"assay/probes"
	"assay/result"
)

// Drift compares the machine before a run with the machine after it, while its server is still up; the server's own programs and the
// events of single points, which stand there, are left out.
func Drift(before, after *probes.SUT) []result.Reason {
	drift := []result.Reason{}
	if before == nil || after == nil {
		return drift
	}
	for _, c := range probes.Drift(*before, *after) {
		if c.Kind() == probes.ChangeMoved || c.Code == "not_seen" {
			drift = append(drift, result.Reason(c))
		}
	}
	return drift
}
