package redfish

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

var errNoInterface = errors.New("SMBIOS names no BMC that the host itself reaches")

// Report is what a BMC tells of its machine.
type Report struct {
	BMC, Vendor, Product, BIOS sut.Fact[string]
	InstalledBytes             sut.Fact[int64]
	Power                      sut.Power // of the supplies, and what they draw
}

// Read asks the BMC, or reads its answers in a capture. Without any, the error says why, and so does every fact of the report.
func Read(ctx context.Context, h host.Host) (Report, error) {
	docs, err := fetch(ctx, h)
	if err != nil {
		return silent(err.Error()), err
	}
	return parse(docs), nil
}

// silent is the report of a BMC that tells nothing.
func silent(why string) Report {
	none, number := sut.Unknown[string]("%s", why), sut.Unknown[float64]("%s", why)
	return Report{BMC: none, Vendor: none, Product: none, BIOS: none, InstalledBytes: sut.Unknown[int64]("%s", why), Power: sut.Power{
		Supplies: sut.List[sut.PowerSupply]{Unknown: why}, Redundancy: none, SuppliesW: number, CapacityW: number, LimitW: number, InputW: number,
	}}
}

// parse reads the answers. Where several resources tell one fact, the first in the order of their paths does.
func parse(docs map[string]resource) Report {
	r := silent("the BMC does not tell")
	for _, path := range paths(docs) {
		doc := docs[path]
		switch {
		case doc.is("ComputerSystem", path, "/Systems/"):
			r.system(path, doc)
		case doc.is("Manager", path, "/Managers/"):
			r.BMC = sut.First(r.BMC, manager(path, doc))
		case doc.has("PowerControl") || len(doc.list("PowerSupplies")) > 0:
			r.legacy(path, doc)
		case doc.is("PowerSubsystem", path, ""):
			r.subsystem(path, doc)
		case doc.is("PowerSupply", path, ""):
			r.supply(path, doc)
		case doc.is("EnvironmentMetrics", path, "") && !strings.Contains(path, "/Systems/"):
			r.metrics(path, doc)
		}
	}
	r.sum()
	return r
}

// is tells a resource by its type, or, where it names none, by its place: the last part of a path below a collection.
func (r resource) is(kind, path, below string) bool {
	if t := r.text("@odata.type"); t != "" {
		return strings.HasPrefix(t, "#"+kind+".")
	}
	_, id, ok := strings.Cut(path, below)
	return below != "" && ok && id != "" && !strings.Contains(id, "/")
}

func (r resource) has(key string) bool { return r[key] != nil }

// fact is a text of a resource, with its place as source.
func (r resource) fact(path, key string) sut.Fact[string] {
	if s := r.text(key); s != "" {
		return sut.Known(s, path+" "+key)
	}
	return sut.Unknown[string]("%s has no %s", path, key)
}

// watts is a positive number of a resource.
func (r resource) watts(path, key string) sut.Fact[float64] {
	if v, ok := r.number(key); ok {
		return sut.Known(v, path+" "+key)
	}
	return sut.Unknown[float64]("%s has no %s", path, key)
}

// reading is a sensor's value that stands inside a resource: {"Reading": 429}.
func (r resource) reading(path, key string) sut.Fact[float64] {
	return r.object(key).watts(path+" "+key, "Reading")
}

func (r *Report) system(path string, doc resource) {
	r.Vendor, r.Product = sut.First(r.Vendor, doc.fact(path, "Manufacturer")), sut.First(r.Product, doc.fact(path, "Model"))
	r.BIOS = sut.First(r.BIOS, doc.fact(path, "BiosVersion"))
	r.InstalledBytes = sut.First(installed(path+" MemorySummary.TotalSystemMemoryGiB", doc.object("MemorySummary")), r.InstalledBytes)
}

// installed is the memory of all DIMMs. Some services divide it twice, so that no DIMMs could add up to it.
func installed(source string, summary resource) sut.Fact[int64] {
	gib, ok := summary.number("TotalSystemMemoryGiB")
	switch {
	case !ok || gib > 1<<20:
		return sut.Unknown[int64]("the BMC does not tell")
	case gib != math.Trunc(gib):
		return sut.Unknown[int64]("%s is %g, which no DIMMs add up to", source, gib)
	}
	return sut.Known(int64(gib)<<30, source)
}

// manager names a BMC by its model and firmware.
func manager(path string, doc resource) sut.Fact[string] {
	if kind := doc.text("ManagerType"); kind != "" && kind != "BMC" && kind != "ManagementController" {
		return sut.Unknown[string]("%s is a manager of type %s", path, kind)
	}
	version := doc.fact(path, "FirmwareVersion")
	if model := doc.text("Model"); model != "" && version.IsKnown() {
		version.Value = model + " " + version.Value
	}
	return version
}

// legacy reads the resource Power of older services.
func (r *Report) legacy(path string, doc resource) {
	for _, c := range doc.list("PowerControl") {
		r.Power.InputW = sut.First(r.Power.InputW, c.watts(path, "PowerConsumedWatts"))
		r.Power.CapacityW = sut.First(r.Power.CapacityW, c.watts(path, "PowerCapacityWatts"), c.watts(path, "PowerAllocatedWatts"))
		limit := c.object("PowerLimit").watts(path+" PowerLimit", "LimitInWatts")
		r.limit(limit, c.watts(path, "PowerConsumedWatts"))
	}
	for _, s := range doc.list("PowerSupplies") {
		if _, elsewhere := s["@odata.id"]; elsewhere && len(s) == 1 {
			continue // a link to a resource of its own
		}
		r.supply(path, s)
	}
	r.redundancy(path, doc.list("Redundancy"))
}

// limit takes the first limit that is told. One that more is drawn than it allows is held by nobody.
func (r *Report) limit(limit, drawn sut.Fact[float64]) {
	if r.Power.LimitW.IsKnown() {
		return
	}
	if limit.IsKnown() && drawn.IsKnown() && drawn.Value > limit.Value {
		limit = sut.Unknown[float64]("%s is %g W, below the %g W that are drawn: it is not enforced", limit.Source, limit.Value, drawn.Value)
	}
	r.Power.LimitW = limit
}

func (r *Report) subsystem(path string, doc resource) {
	r.Power.CapacityW = sut.First(r.Power.CapacityW, doc.watts(path, "CapacityWatts"), doc.object("Allocation").watts(path+" Allocation", "AllocatedWatts"))
	r.redundancy(path, doc.list("PowerSupplyRedundancy"))
}

func (r *Report) metrics(path string, doc resource) {
	r.Power.InputW = sut.First(r.Power.InputW, doc.reading(path, "PowerWatts"))
	limit := doc.object("PowerLimitWatts").watts(path+" PowerLimitWatts", "SetPoint")
	if mode := doc.object("PowerLimitWatts").text("ControlMode"); limit.IsKnown() && mode != "" && mode != "Automatic" {
		limit = sut.Unknown[float64]("%s PowerLimitWatts is %s", path, mode)
	}
	r.limit(limit, doc.reading(path, "PowerWatts"))
}

// supply adds a power supply; an empty bay is none.
func (r *Report) supply(path string, doc resource) {
	state := doc.object("Status").text("State")
	if state == "Absent" {
		return
	}
	r.Power.Supplies.Unknown = ""
	r.Power.Supplies.Items = append(r.Power.Supplies.Items, sut.PowerSupply{
		Name: doc.fact(path, "Name"), Model: doc.fact(path, "Model"), CapacityW: doc.watts(path, "PowerCapacityWatts"), Firmware: doc.fact(path, "FirmwareVersion"),
		State: doc.object("Status").fact(path+" Status", "State"), Health: doc.object("Status").fact(path+" Status", "Health"),
	})
}

// redundancy words how many supplies are needed: "Failover, 1 of 2 needed".
func (r *Report) redundancy(path string, groups []resource) {
	for _, g := range groups {
		kind := g.text("Mode")
		if kind == "" {
			kind = g.text("RedundancyType")
		}
		if kind == "" {
			continue
		}
		needed, ok := g.number("MinNumNeeded")
		if n, newer := g.number("MinNeededInGroup"); newer {
			needed, ok = n, true
		}
		if members := max(len(g.list("RedundancySet")), len(g.list("RedundancyGroup"))); ok && members > 0 {
			kind += fmt.Sprintf(", %g of %d needed", needed, members)
		}
		r.Power.Redundancy = sut.First(r.Power.Redundancy, sut.Known(kind, path))
	}
}

// sum adds the capacities of the supplies that work.
func (r *Report) sum() {
	total, source := 0.0, ""
	for _, s := range r.Power.Supplies.Items {
		if s.State.IsKnown() && s.State.Value != "Enabled" && s.State.Value != "StandbySpare" {
			continue
		}
		if !s.CapacityW.IsKnown() {
			r.Power.SuppliesW = sut.Unknown[float64]("%s", s.CapacityW.Reason())
			return
		}
		total, source = total+s.CapacityW.Value, s.CapacityW.Source
	}
	if total > 0 {
		r.Power.SuppliesW = sut.Known(total, source)
	}
}
