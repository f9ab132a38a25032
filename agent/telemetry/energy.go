package telemetry

import (
	"fmt"

	"assay/result"
)

const (
	wantedShare = 0.95 // of the window that must be known for an energy
	workingPct  = 10   // utilisation from which a device is not idle
	stuckUS     = 30e6 // a reading that stood still so long, and for half the window, while the device worked, is none
)

// estimate is what a part of the window tells of the whole.
type estimate struct {
	joules float64 // of the part that is known
	share  float64 // of the window that is known
}

func (e estimate) good() bool { return e.joules > 0 && e.share >= wantedShare }

// whole takes the little that is missing to be as the rest.
func (e estimate) whole() float64 { return e.joules / e.share }

// energy gives a series of power its energy over the window: by the device's counter where it has one that moves, else by the readings.
func energy(t *result.Telemetry, power, counter track, works bool, w span) {
	grown, told := counter.growth(w)
	byCounter := estimate{grown, w.share(told)}
	sum, told := power.integral(w, gapLimit(power[0].Series))
	byReadings := estimate{sum, w.share(told)}
	held := power.heldUS(w)
	t.HeldS = seconds(held)
	stuck := works && held >= stuckUS && held >= w.length()/2
	give := func(e estimate, method string) {
		joules := e.whole()
		t.EnergyJ, t.Method, t.Coverage = &joules, method, e.share
	}
	switch {
	case byCounter.good():
		give(byCounter, result.MethodCounter)
		if byReadings.good() {
			off := 100 * (byReadings.whole()/byCounter.whole() - 1)
			t.OffPct = &off
		}
	case byReadings.share < wantedShare:
		t.EnergyUnknown = fmt.Sprintf("samples tell of %.1f %% of the window, the longest gap is %.1f s", 100*byReadings.share, t.MaxGapS)
		if byCounter.joules > 0 {
			t.EnergyUnknown += fmt.Sprintf("; the counter tells of %.1f %%", 100*byCounter.share)
		}
	case byReadings.joules <= 0:
		t.EnergyUnknown = "the readings are 0 W"
	case stuck:
		t.EnergyUnknown = fmt.Sprintf("the reading stood still for %.0f s while the device worked", t.HeldS)
	default:
		give(byReadings, result.MethodTrapezoid)
	}
}
