package archive

import (
	"fmt"

	"assay/result"
	"assay/runner"
)

// maxAccelerators is more than any machine has.
const maxAccelerators = 1024

// compareEnergy holds a point's tokens per joule against the output of its recording and the energy of each of its accelerators.
func compareEnergy(made runner.Reading, told result.Point) (numbers int, differ []string) {
	e := told.Energy
	switch {
	case e == nil || e.TokensPerJoule == nil:
		return 0, nil
	case e.AcceleratorJ == nil || told.Window == nil || made.Metrics.SystemTPS == nil:
		return 1, []string{"energy.tokens_per_joule is told without the energy or the output"}
	case told.State != result.PointValid:
		return 1, []string{"energy.tokens_per_joule is told of a point that is " + string(told.State)}
	}
	sum := 0.0
	for i := range min(e.Accelerators, maxAccelerators) {
		t, sampled := told.Telemetry[fmt.Sprintf("gpu%d.power_w", i)]
		switch {
		case !sampled: // another device reports for it, such as the first die of a package
		case t.EnergyJ == nil:
			return 1, []string{fmt.Sprintf("energy.accelerator_j is told, and that of gpu%d is not", i)}
		default:
			sum += *t.EnergyJ
		}
	}
	if sum != *e.AcceleratorJ {
		differ = append(differ, fmt.Sprintf("energy.accelerator_j is %v, that of the accelerators together %v", *e.AcceleratorJ, sum))
	}
	if rate := *made.Metrics.SystemTPS * told.Window.DurationS / *e.AcceleratorJ; rate != *e.TokensPerJoule {
		differ = append(differ, fmt.Sprintf("energy.tokens_per_joule is %v, the recording gives %v", *e.TokensPerJoule, rate))
	}
	return 2, differ
}
