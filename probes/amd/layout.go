package amd

import "slices"

// field is where an attribute stands in a table of a fixed layout.
type field struct {
	attr             attribute
	at, bytes, count int
	unit             float64
}

type layout struct {
	size   int
	fields []field
}

// layoutOf gives the layout of a version that has a fixed one.
func layoutOf(version string) (layout, bool) {
	switch version {
	case "1.0": // its counter of energy has no unit that is told
		return layout{80, slices.Concat(card(16), []field{{attrLinkWidth, 74, 1, 1, 1}, {attrLinkSpeed, 75, 1, 1, 0.1}})}, true
	case "1.1":
		return layout{96, cardWithEnergy()}, true
	case "1.2":
		return layout{104, cardWithEnergy()}, true
	case "1.3":
		return layout{120, append(cardWithEnergy(), field{attrThrottle, 112, 8, 1, 1})}, true
	case "1.4":
		return layout{288, module(24, 240)}, true
	case "1.5":
		return layout{360, append(module(88, 312), field{attrNAKsSent, 168, 4, 1, 1}, field{attrNAKsReceived, 172, 4, 1, 1})}, true
	case "1.6":
		return layout{1664, countingModule(16, 264)}, true
	case "1.7":
		return layout{2208, append(countingModule(24, 296), field{attrFabricStatus, 264, 2, 8, 1})}, true
	case "1.8":
		return layout{3872, append(countingModule(24, 296), field{attrFabricStatus, 264, 2, 8, 1})}, true
	}
	return processor(version)
}

// card is what versions 1.0 to 1.3 share; their temperatures begin at t.
func card(t int) []field {
	return []field{
		{attrEdge, t, 2, 1, 1}, {attrHotspot, t + 2, 2, 1, 1}, {attrMemTemp, t + 4, 2, 1, 1}, {attrGfxActivity, t + 12, 2, 1, 1}, {attrMemActivity, t + 14, 2, 1, 1},
		{attrPower, t + 18, 2, 1, 1}, {attrGfxClock, 54, 2, 1, 1}, {attrMemClock, 58, 2, 1, 1}, {attrThrottleOwn, 68, 4, 1, 1},
	}
}

func cardWithEnergy() []field {
	return append(card(4), field{attrEnergy, 24, 8, 1, joule}, field{attrLinkWidth, 74, 2, 1, 1}, field{attrLinkSpeed, 76, 2, 1, 0.1})
}

// socket is what versions 1.4 to 1.8 share.
func socket(energy, clocks int) []field {
	return []field{
		{attrHotspot, 4, 2, 1, 1}, {attrMemTemp, 6, 2, 1, 1}, {attrPower, 10, 2, 1, 1}, {attrGfxActivity, 12, 2, 1, 1}, {attrMemActivity, 14, 2, 1, 1},
		{attrEnergy, energy, 8, 1, joule}, {attrGfxClock, clocks, 2, 8, 1}, {attrMemClock, clocks + 40, 2, 1, 1},
	}
}

// module is what versions 1.4 and 1.5 share; energy is the offset of its counter.
func module(energy, clocks int) []field {
	e := energy
	return append(socket(energy, clocks), []field{
		{attrThrottleOwn, e + 16, 4, 1, 1}, {attrLinkWidth, e + 24, 2, 1, 1}, {attrLinkSpeed, e + 26, 2, 1, 0.1}, {attrFabricWidth, e + 28, 2, 1, 1},
		{attrFabricSpeed, e + 30, 2, 1, 1}, {attrLinkRate, e + 48, 8, 1, 1}, {attrRecoveries, e + 56, 8, 1, 1}, {attrReplays, e + 64, 8, 1, 1}, {attrRollovers, e + 72, 8, 1, 1},
	}...)
}

// countingModule is what versions 1.6 to 1.8 share: they count throttling.
func countingModule(energy, clocks int) []field {
	e := energy
	return append(socket(energy, clocks), []field{
		{attrTicks, e + 16, 4, 1, 1}, {attrProchot, e + 20, 4, 1, 1}, {attrPPT, e + 24, 4, 1, 1}, {attrSocketThermal, e + 28, 4, 1, 1},
		{attrVRThermal, e + 32, 4, 1, 1}, {attrHBMThermal, e + 36, 4, 1, 1}, {attrLinkWidth, e + 44, 2, 1, 1}, {attrLinkSpeed, e + 46, 2, 1, 0.1},
		{attrFabricWidth, e + 48, 2, 1, 1}, {attrFabricSpeed, e + 50, 2, 1, 1}, {attrGfxSum, e + 52, 4, 1, 1}, {attrMemSum, e + 56, 4, 1, 1},
		{attrLinkRate, e + 72, 8, 1, 1}, {attrRecoveries, e + 80, 8, 1, 1}, {attrReplays, e + 88, 8, 1, 1}, {attrRollovers, e + 96, 8, 1, 1},
		{attrNAKsSent, e + 104, 4, 1, 1}, {attrNAKsReceived, e + 108, 4, 1, 1},
	}...)
}

// processor is the table of an APU, in hundredths of °C and in mW; before 3.0 also in hundredths of a percent.
func processor(version string) (layout, bool) {
	bits := field{attrThrottle, 120, 8, 1, 1}
	switch version {
	case "2.0":
		return layout{120, apu(16, 40, 44, 80, 112)}, true
	case "2.1":
		return layout{120, apu(4, 28, 40, 76, 108)}, true
	case "2.2":
		return layout{128, append(apu(4, 28, 40, 76, 108), bits)}, true
	case "2.3":
		return layout{152, append(apu(4, 28, 40, 76, 108), bits)}, true
	case "2.4":
		return layout{168, append(apu(4, 28, 40, 76, 108), bits)}, true
	case "3.0":
		return layout{264, []field{
			{attrEdge, 4, 2, 1, 0.01}, {attrGfxActivity, 42, 2, 1, 1}, {attrPower, 112, 4, 1, 0.001}, {attrGfxClock, 174, 2, 1, 1}, {attrMemClock, 186, 2, 1, 1},
			{attrProchot, 228, 4, 1, 1}, {attrSPL, 232, 4, 1, 1}, {attrFPPT, 236, 4, 1, 1}, {attrSPPT, 240, 4, 1, 1},
			{attrCoreThermal, 244, 4, 1, 1}, {attrGfxThermal, 248, 4, 1, 1}, {attrSoCThermal, 252, 4, 1, 1},
		}}, true
	}
	return layout{}, false
}

func apu(temperature, activity, power, clocks, throttle int) []field {
	return []field{
		{attrEdge, temperature, 2, 1, 0.01}, {attrGfxActivity, activity, 2, 1, 0.01}, {attrPower, power, 2, 1, 0.001},
		{attrGfxClock, clocks, 2, 1, 1}, {attrMemClock, clocks + 4, 2, 1, 1}, {attrThrottleOwn, throttle, 4, 1, 1},
	}
}
