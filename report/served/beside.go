package served

import (
	"encoding/json"
	"slices"
	"strings"

	"assay/probes"
	"assay/report/figure"
	"assay/report/machine"
	"assay/report/point"
	"assay/result"
)

// Supported is the highest concurrency that the run measured with a valid point.
func Supported(points []result.Point) machine.Line {
	most, set, at := 0, false, ""
	for _, p := range points {
		if p.Concurrency == nil || p.Phase == "prefill" {
			continue
		}
		set = true
		if p.State == result.PointValid && *p.Concurrency > most {
			most, at = *p.Concurrency, point.Label(p)
		}
	}
	switch name := "Max supported concurrency"; {
	case most > 0:
		return machine.Stated(name, figure.Whole(float64(most)), "the highest valid point of this run, "+at, "")
	case set:
		return machine.Stated(name, "", "", "no point is valid")
	default:
		return machine.Stated(name, "", "", "no point of this run sets a concurrency")
	}
}

// Beside names what ran beside the server: container engine, routers, client.
func Beside(s Server, id result.Identity, sut *probes.SUT) []string {
	var out []string
	runtimes := []string{s.Runtime}
	for _, raw := range id.Routers {
		var r Server
		if json.Unmarshal(raw, &r) != nil || r.Runtime == "endpoint" { // the client spoke to the server itself
			continue
		}
		out, runtimes = append(out, r.Program()), append(runtimes, r.Runtime)
	}
	if sut != nil && slices.Contains(runtimes, "docker") {
		out = append(containerEngine(sut.Software), out...)
	}
	if c := id.Client; c.Kind != "" {
		out = append(out, strings.TrimSpace(c.Kind+" client "+c.Version))
	}
	return slices.Compact(slices.DeleteFunc(out, func(s string) bool { return s == "" }))
}

func containerEngine(s probes.Software) []string {
	var out []string
	if v, ok := s.Docker.Get(); ok {
		out = append(out, "Docker "+v)
	}
	if v, ok := s.Containerd.Get(); ok {
		out = append(out, "containerd "+v)
	}
	return out
}
