package point

import (
	"fmt"

	"assay/plan"
	"assay/report/figure"
)

// Arrivals names the process by which an open loop's requests came, and its ramp: "gamma of shape 0.5, ramp from 2/s over 4s"; "" without one.
func Arrivals(p plan.Plan) string {
	loop := OpenLoop(p)
	out := loop.Arrival
	switch out {
	case "gamma":
		out += " of shape " + figure.Plain(loop.Burstiness)
	case "constant":
		out += " gaps"
	case "trace":
		out = "as recorded"
	}
	if r := loop.Ramp; r != nil {
		out += fmt.Sprintf(", %s ramp from %s/s over %s", r.Shape, figure.Plain(r.From), r.Over)
	}
	return out
}
