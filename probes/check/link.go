package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/probes/sut"
)

// checkLink compares each GPU's PCIe link with what the device can, and with what its slot can. Fails on lost lanes, and warns of a lower
// rate, which an idle card may show to save power, and of a slot that can less than the card.
func checkLink(r Request) (Check, bool) {
	return eachGPU(r.SUT, "Every GPU runs at its full link.", "The PCIe link is below what the device can", func(i int, a sut.Accelerator) gpuVerdict {
		l := a.Link
		v := gpuVerdict{OK, show(gpuPath(i, "link.gts"), l.GTS) + "; " + show(gpuPath(i, "link.width"), l.Width), cmp.Or(l.GTS.Unknown, l.Width.Unknown, l.MaxGTS.Unknown, l.MaxWidth.Unknown)}
		switch {
		case l.GTS.NA != "":
			return v
		case !l.GTS.IsKnown() || !l.Width.IsKnown() || !l.MaxGTS.IsKnown() || !l.MaxWidth.IsKnown():
			v.state = Unknown
		case l.Width.Value < l.MaxWidth.Value:
			v.state = Fail
		case l.GTS.Value < l.MaxGTS.Value || below(l.SlotMaxGTS, l.MaxGTS) || below(l.SlotMaxWidth, l.MaxWidth):
			v.state = Warn
		}
		v.evidence += "; " + show("max_gts", l.MaxGTS) + "; " + show("max_width", l.MaxWidth)
		if l.GTS.Other != "" {
			v.evidence += "; also " + l.GTS.Other
		}
		return v
	})
}

func below[T int | float64](a, b sut.Fact[T]) bool {
	return a.IsKnown() && b.IsKnown() && a.Value < b.Value
}

// manyReplays is how many corrected errors of a PCIe link are worth a look; a sound one has none or a few.
const manyReplays = 100

// checkPCIeErrors looks at what went wrong on the PCIe links of the GPUs since they started. Fails on errors that were not corrected, and
// warns above 100 replays, recoveries or corrected errors. Their growth over a point is listed with it.
func checkPCIeErrors(r Request) (Check, bool) {
	return eachGPU(r.SUT, "The PCIe links of the GPUs are sound.", "A PCIe link has errors", func(i int, a sut.Accelerator) gpuVerdict {
		e, known := a.LinkErrors, 0
		v := gpuVerdict{state: OK, why: e.AERFatal.Reason()}
		for _, c := range []struct {
			name string
			fact sut.Fact[int64]
			most int64
			over State
		}{
			{"aer_fatal", e.AERFatal, 0, Fail}, {"aer_nonfatal", e.AERNonfatal, 0, Fail}, {"aer_correctable", e.AERCorrectable, manyReplays, Warn},
			{"replays", e.Replays, manyReplays, Warn}, {"recoveries", e.Recoveries, manyReplays, Warn},
		} {
			if c.fact.IsKnown() {
				known++
			}
			if c.fact.Value > c.most {
				v.state = worse(v.state, c.over)
			}
			v.evidence += "; " + show(gpuPath(i, "link_errors."+c.name), c.fact)
		}
		if known == 0 {
			v.state = Unknown
		}
		v.evidence = strings.TrimPrefix(v.evidence, "; ")
		return v
	})
}

// checkFabric looks at the GPUs' own links, XGMI or NVLink. Fails when a GPU has fewer peers or links than the others, when a link is down,
// and when a switched fabric is not complete. Links that a GPU does not tell are not known.
func checkFabric(r Request) (Check, bool) {
	peers, links := mostOf(r.SUT, func(a sut.Accelerator) sut.Fact[int] { return a.XGMIPeers }), mostOf(r.SUT, func(a sut.Accelerator) sut.Fact[int] { return a.NVLinks })
	if hives, known := r.SUT.Interconnect.Hives.Get(); known && hives > 0 && r.SUT.Interconnect.Kind.Value == "xgmi" {
		peers = max(peers, measured(r.SUT)/hives-1)
	}
	return eachGPU(r.SUT, "Every GPU has all links of its fabric, where there is one.", "A link between GPUs is missing", func(i int, a sut.Accelerator) gpuVerdict {
		v := gpuVerdict{state: OK}
		look := func(name string, f sut.Fact[int], good func(int) bool) {
			switch {
			case f.NA != "":
			case !f.IsKnown():
				v = gpuVerdict{worse(v.state, Unknown), v.evidence + "; " + show(gpuPath(i, name), f), cmp.Or(v.why, f.Reason())}
			default:
				v.state = worse(v.state, failUnless(good(f.Value)))
				v.evidence += "; " + show(gpuPath(i, name), f)
			}
		}
		look("xgmi_peers", a.XGMIPeers, func(n int) bool { return n >= peers })
		look("nvlinks", a.NVLinks, func(n int) bool { return n >= links })
		if a.Fabric.LinksDown.IsKnown() {
			look("fabric.links_down", a.Fabric.LinksDown, func(n int) bool { return n == 0 })
		}
		if state, told := a.Fabric.State.Get(); told {
			v.state = worse(v.state, failUnless(strings.EqualFold(state, "completed")))
			v.evidence += "; " + show(gpuPath(i, "fabric.state"), a.Fabric.State)
		}
		v.evidence = strings.TrimPrefix(v.evidence, "; ")
		if v.evidence == "" {
			v.evidence = fmt.Sprintf("accelerators[%d] has no links of its own", i)
		}
		return v
	})
}

// mostOf is the highest number that any GPU has.
func mostOf(s sut.SUT, of func(sut.Accelerator) sut.Fact[int]) int {
	most := 0
	for _, a := range s.Accelerators.Items {
		most = max(most, of(a).Value)
	}
	return most
}

// checkP2P asks whether GPUs reach each other's memory without the host. Warns when one reaches fewer than all others.
func checkP2P(r Request) (Check, bool) {
	others := measured(r.SUT) - 1
	if others < 1 {
		return Check{}, false
	}
	return eachGPU(r.SUT, "Every GPU reaches the memory of every other.", "The memory of some others is not reached", func(i int, a sut.Accelerator) gpuVerdict {
		return gpuFact(i, "p2p_peers", a.P2PPeers, func(n int) State { return warnUnless(n >= others) })
	})
}

// checkACS looks at the bridges above the GPUs. Warns where one sends transfers between devices by the root complex (ACS), which makes them
// slow; it applies where there are several GPUs.
func checkACS(r Request) (Check, bool) {
	if measured(r.SUT) < 2 {
		return Check{}, false
	}
	return eachGPU(r.SUT, "No bridge sends transfers between GPUs by the root complex.", "Transfers between devices go by the root complex", func(i int, a sut.Accelerator) gpuVerdict {
		return gpuFact(i, "link.acs_redirect", a.Link.ACSRedirect, func(on bool) State { return warnUnless(!on) })
	})
}

// checkNetworkLinks looks at InfiniBand and RoCE ports, and at network interfaces that are up. Warns when one of them runs below what it can,
// or its link is on its way up. Takes how many InfiniBand and RoCE ports must be active, and fails with fewer.
func checkNetworkLinks(r Request, want any) (Check, bool) {
	n := r.SUT.Network
	least, isNumber := atLeast(want, 0)
	switch {
	case !isNumber:
		return misfit(want, "how many ports of InfiniBand and RoCE must be active"), true
	case n.InfiniBand.Unknown != "":
		return unclear(n.InfiniBand.Unknown), true
	case want == nil && len(n.InfiniBand.Items) == 0 && !slices.ContainsFunc(n.Interfaces.Items, isUp):
		return Check{}, false
	}
	active, slow, evidence := 0, []string{}, []string{}
	for _, p := range n.InfiniBand.Items {
		evidence = append(evidence, fmt.Sprintf("%s: %s, %s Gb/s", brief(p.Name), brief(p.State), brief(p.RateGbps)))
		switch strings.ToLower(p.State.Value) {
		case "active":
			active++
		case "init", "armed":
			slow = append(slow, p.Name.Value)
		}
	}
	for _, c := range n.Interfaces.Items {
		if isUp(c) && below(c.SpeedMbps, c.MaxMbps) {
			slow = append(slow, c.Name.Value)
			evidence = append(evidence, fmt.Sprintf("%s: %d of %d Mb/s", brief(c.Name), c.SpeedMbps.Value, c.MaxMbps.Value))
		}
	}
	switch {
	case float64(active) < least:
		return fail(fmt.Sprintf("%d ports of InfiniBand and RoCE are active, but the plan wants %g.", active, least), evidence...), true
	case len(slow) > 0:
		return warn("Network links are below what they can: "+strings.Join(slow, ", ")+".", evidence...), true
	}
	text := "Network links that are up run at their full speed"
	if active > 0 {
		text += fmt.Sprintf("; %d ports of InfiniBand and RoCE are active", active)
	}
	return ok(text+".", evidence...), true
}

func isUp(n sut.NIC) bool { return n.Up.Value && n.Kind.Value == "ethernet" }
