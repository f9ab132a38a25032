package point

import (
	"testing"

	"assay/result"
)

func TestWarmedUp(t *testing.T) {
	yes, no := true, false
	for want, w := range map[string]*result.Warmup{
		"":                                     nil,
		"1 request, 0.5 s":                     {Requests: 1, DurationS: 0.5},
		"64 requests, 12.5 s, 4 steps, stable": {Requests: 64, DurationS: 12.5, Stable: &yes, Steps: 4},
		"9 requests, 60.0 s, not stable":       {Requests: 9, DurationS: 60, Stable: &no},
	} {
		if got := WarmedUp(result.Point{Warmup: w}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
