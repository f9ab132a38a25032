package report

import (
	"cmp"
	"slices"
	"strings"

	"assay/report/machine"
	"assay/report/served"
)

// tested is what ran on the machine: the part of a published SUT summary that no probe of the host can know.
func (v view) tested() machine.Chapter {
	s, id := v.server, v.res.Identity
	notStarted := "the server was already running, or never came to run"
	inside := served.Within(s, v.sut)
	return machine.Chapter{Name: "As tested", Lines: []machine.Line{
		machine.Stated("Framework", v.engine(), "the server's version endpoint", "no server told its version"),
		machine.Stated("Container image", s.Image, "container runtime", "the server ran without a container, or was not started by this run"),
		machine.Stated("Server program", strings.Join(s.Argv, " "), "started by this run", notStarted),
		inside[0], inside[1],
		machine.Stated("Other software", strings.Join(served.Beside(v.server, id, v.sut), ", "), "identities of routers and client, container engine", "nothing else ran"),
		machine.Stated("Software notes", strings.Join(id.Notes, "; "), "what was not pinned", "free text; the run noted nothing"),
		served.Supported(v.res.Points),
		machine.Stated("Node count", "1", "one node per run", ""),
		v.deployment(),
	}}
}

// served is what served the model, and the data sent to it.
func (v view) served() []machine.Chapter {
	return []machine.Chapter{served.Engine(v.plan.Server.Engine, v.server, v.sut), served.Model(v.modelName(), v.server, v.res)}
}

// deployment is where the client stood, as a server that was started by the run shares its node.
func (v view) deployment() machine.Line {
	value := ""
	if slices.Contains([]string{"docker", "process"}, cmp.Or(v.server.Runtime, v.plan.Server.Runtime)) {
		value = "on premises, client and server on the same node"
	}
	return machine.Stated("Deployment", value, "the plan's runtime", "the endpoint was already running, and does not tell where")
}
