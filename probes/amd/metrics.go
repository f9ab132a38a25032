package amd

import (
	"fmt"
	"math"
	"slices"

	"assay/probes/pci"
	"assay/probes/sut"
)

// metricsTable is the driver's binary table of a GPU's sensors and counters, the file gpu_metrics (kgd_pp_interface.h of the kernel).
type metricsTable struct {
	version string // "1.3"
	source  string
	why     string // there is no table
	fields  map[attribute]reading
}

// reading is a field as the chip reports it: values that are all ones, which stand for none, are left out, and so is a field of them alone.
type reading struct {
	values []uint64
	bits   int     // of one value, at which a counter begins anew
	unit   float64 // what 1 stands for
}

// isAPU tells the tables of processors with a GPU.
func (t metricsTable) isAPU() bool { return t.why == "" && t.version >= "2" }

// number gives the first value of a field in its unit. Zero is a value here.
func (t metricsTable) number(a attribute) sut.Fact[float64] {
	r, ok := t.fields[a]
	switch {
	case t.why != "":
		return sut.Unknown[float64]("%s", t.why)
	case !ok:
		return sut.Unknown[float64]("%s of version %s does not report it", t.source, t.version)
	}
	return sut.Known(hundredths(float64(r.values[0])*r.unit), t.source)
}

func hundredths(v float64) float64 { return math.Round(v*100) / 100 }

// positive refuses the 0 of a sensor that is not there.
func (t metricsTable) positive(a attribute) sut.Fact[float64] {
	f := t.number(a)
	if f.IsKnown() && f.Value <= 0 {
		return sut.Unknown[float64]("%s says 0, which is no reading", t.source)
	}
	return f
}

// share is a percentage; what is above 100 is none.
func (t metricsTable) share(a attribute) sut.Fact[float64] {
	return sut.Convert(t.number(a), func(v float64) (float64, error) {
		if v > 100 {
			return 0, sut.ErrNoValue
		}
		return v, nil
	})
}

// count is a counter's value.
func (t metricsTable) count(a attribute) sut.Fact[int64] {
	return sut.Convert(t.number(a), func(float64) (int64, error) {
		if v := t.fields[a].values[0]; v <= math.MaxInt64 {
			return int64(v), nil
		}
		return 0, sut.ErrNoValue
	})
}

// energyJ is what was used since the driver was loaded; 0 is what chips without the counter say, and dies that are not the first of a package.
func (t metricsTable) energyJ() sut.Fact[float64] {
	f := t.positive(attrEnergy)
	if f.IsKnown() {
		f.Value = float64(t.fields[attrEnergy].values[0]) * t.fields[attrEnergy].unit
	}
	return f
}

// gfxMHz are the mean and the slowest of the compute dies' clocks; a die that is not there says 0.
func (t metricsTable) gfxMHz() (mean, slowest sut.Fact[float64]) {
	clocks := slices.DeleteFunc(slices.Clone(t.fields[attrGfxClock].values), func(v uint64) bool { return v == 0 })
	if len(clocks) == 0 {
		none := t.positive(attrGfxClock)
		return none, none
	}
	var sum uint64
	for _, v := range clocks {
		sum += v
	}
	mean = sut.Known(hundredths(float64(sum)/float64(len(clocks))), t.source)
	if len(clocks) == 1 {
		return mean, sut.NA[float64]("one compute die")
	}
	return mean, sut.Known(float64(slices.Min(clocks)), t.source)
}

func (t metricsTable) linkWidth() sut.Fact[int] {
	return sut.Convert(t.number(attrLinkWidth), func(w float64) (int, error) { return pci.Width(int(w)) })
}

func (t metricsTable) linkErrors() sut.LinkErrors {
	return sut.LinkErrors{
		Replays: t.count(attrReplays), ReplayRollovers: t.count(attrRollovers), NAKsSent: t.count(attrNAKsSent),
		NAKsReceived: t.count(attrNAKsReceived), Recoveries: t.count(attrRecoveries),
	}
}

// fabric counts the XGMI links that are up and down. All down at once is what a chip says that does not tell.
func (t metricsTable) fabric() sut.Fabric {
	up, down := 0, 0
	for _, v := range t.fields[attrFabricStatus].values {
		if v == 0 {
			down++
		} else {
			up++
		}
	}
	f := sut.Fabric{LinkGbps: t.positive(attrFabricSpeed)}
	if width := t.positive(attrFabricWidth); f.LinkGbps.IsKnown() && width.IsKnown() {
		f.LinkGbps.Value *= width.Value
	}
	if up == 0 {
		reason := t.number(attrFabricStatus).Unknown
		if down > 0 {
			reason = fmt.Sprintf("%s says that all %d links are down, as it does where their state is not reported", t.source, down)
		}
		f.LinksUp, f.LinksDown = sut.Unknown[int]("%s", reason), sut.Unknown[int]("%s", reason)
		return f
	}
	f.LinksUp, f.LinksDown = sut.Known(up, t.source), sut.Known(down, t.source)
	return f
}

// throttledBy names why clocks are held down now. The chip's own bits differ by chip, so they give no reason beyond "other"; MI300 leaves
// them 0 whatever happens.
func (t metricsTable) throttledBy() sut.List[string] {
	list := sut.List[string]{Items: []string{}}
	bits, said := t.fields[attrThrottle]
	own, ownSaid := t.fields[attrThrottleOwn]
	switch {
	case t.why != "":
		list.Unknown = t.why
	case said:
		list.Items = reasons(bits.values[0])
	case ownSaid && own.values[0] != 0:
		list.Items = []string{"other"}
	case t.fields[attrProchot].values != nil:
		list.Unknown = t.source + " of version " + t.version + " counts throttling instead of stating it"
	case !ownSaid || t.version == "1.4" || t.version == "1.5":
		list.Unknown = t.source + " of version " + t.version + " does not report it"
	}
	return list
}

// throttleGroup is a reason and its bits.
type throttleGroup struct {
	name string
	mask uint64
}

// throttleGroups are the bits that mean the same on every chip.
func throttleGroups() []throttleGroup {
	return []throttleGroup{{"power", 0xff}, {"current", 0xff << 16}, {"thermal", 0x3fff << 32}, {"prochot", 3 << 46}, {"other", 0xff << 56}}
}

func reasons(bits uint64) []string {
	list := []string{}
	for _, group := range throttleGroups() {
		if bits&group.mask != 0 {
			list = append(list, group.name)
		}
	}
	return list
}

// throttleCount is a counter of a table and what it counts.
type throttleCount struct {
	name string
	attr attribute
}

// throttleReasons is every counter that a version may have.
func throttleReasons() []throttleCount {
	return []throttleCount{
		{"power", attrPPT}, {"thermal", attrSocketThermal}, {"mem_thermal", attrHBMThermal}, {"vr_thermal", attrVRThermal}, {"prochot", attrProchot},
		{"power_sustained", attrSPL}, {"power_fast", attrFPPT}, {"power_slow", attrSPPT},
		{"core_thermal", attrCoreThermal}, {"gfx_thermal", attrGfxThermal}, {"soc_thermal", attrSoCThermal},
	}
}

// throttleCounters counts the firmware's cycles in which clocks were held down.
func (t metricsTable) throttleCounters() sut.List[sut.ThrottleCounter] {
	var list sut.List[sut.ThrottleCounter]
	for _, r := range throttleReasons() {
		if ticks := t.count(r.attr); ticks.IsKnown() {
			list.Items = append(list.Items, sut.ThrottleCounter{Reason: sut.Known(r.name, t.source), Ticks: ticks, OfTicks: t.count(attrTicks)})
		}
	}
	if len(list.Items) == 0 {
		list.Unknown = t.count(attrPPT).Unknown
	}
	return list
}
