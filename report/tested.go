package report

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"assay/probes"
	"assay/report/figure"
	"assay/report/machine"
	"assay/report/point"
	"assay/report/served"
	"assay/result"
)

// tested is what ran on the machine: the part of a published SUT summary that no probe of the host can know.
func (v view) tested() machine.Chapter {
	s, id := v.server, v.res.Identity
	notStarted := "the server was already running, or never came to run"
	return machine.Chapter{Name: "As tested", Lines: []machine.Line{
		machine.Stated("Framework", v.engine(), "the server's version endpoint", "no server told its version"),
		machine.Stated("Container image", s.Image, "container runtime", "the server ran without a container, or was not started by this run"),
		machine.Stated("Server program", strings.Join(s.Argv, " "), "started by this run", notStarted),
		machine.Stated("Other software", strings.Join(v.otherSoftware(), ", "), "identities of routers and client, container engine", "nothing else ran"),
		machine.Stated("Software notes", strings.Join(id.Notes, "; "), "what was not pinned", "free text; the run noted nothing"),
		v.supported(),
		machine.Stated("Node count", "1", "one node per run", ""),
		v.deployment(),
	}}
}

// served is what served the model, and the data sent to it.
func (v view) served() []machine.Chapter {
	return []machine.Chapter{served.Engine(v.plan.Server.Engine, v.server, v.sut), served.Model(v.modelName(), v.server, v.res)}
}

// supported is the highest concurrency that the run measured with a valid point.
func (v view) supported() machine.Line {
	most, set, at := 0, false, ""
	for _, p := range v.res.Points {
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

// deployment is where the client stood, as a server that was started by the run shares its node.
func (v view) deployment() machine.Line {
	value := ""
	if slices.Contains([]string{"docker", "process"}, cmp.Or(v.server.Runtime, v.plan.Server.Runtime)) {
		value = "on premises, client and server on the same node"
	}
	return machine.Stated("Deployment", value, "the plan's runtime", "the endpoint was already running, and does not tell where")
}

// otherSoftware names what ran beside the server: container engine, routers, client.
func (v view) otherSoftware() []string {
	var out []string
	runtimes := []string{v.server.Runtime}
	for _, raw := range v.res.Identity.Routers {
		var s served.Server
		if json.Unmarshal(raw, &s) != nil || s.Runtime == "endpoint" { // the client spoke to the server itself
			continue
		}
		out, runtimes = append(out, s.Program()), append(runtimes, s.Runtime)
	}
	if v.sut != nil && slices.Contains(runtimes, "docker") {
		out = append(containerEngine(v.sut.Software), out...)
	}
	if c := v.res.Identity.Client; c.Kind != "" {
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
