package proof

import (
	"fmt"
	"strconv"
	"strings"

	"assay/containers"
	"assay/containers/engine"
	"assay/plan"
	"assay/probes"
	"assay/result"
)

// Request is a server that is ready, and the plan it was started or named by.
type Request struct {
	Plan   plan.Plan
	Server containers.Identity
	Model  result.ModelIdentity
	CPUs   int // of this machine
}

// version: server.expect.version.
func version(r Request) (probes.Check, bool) {
	want, got := r.Plan.Server.Expect.Version, r.Server.Version
	if want == "" {
		return untold("server.expect.version is not written")
	}
	evidence := []string{"the server says " + strconv.Quote(got)}
	if got == "" {
		return found(probes.CheckFail, evidence, "the plan wants version %s and the server does not say its own", want)
	}
	if !fits(want, got) {
		return found(probes.CheckFail, evidence, "version %s, the plan wants %s", got, want)
	}
	return found(probes.CheckOK, evidence, "version %s", got)
}

// fits: a version that is written shorter leaves the rest open.
func fits(want, got string) bool {
	want, got = strings.TrimPrefix(want, "v"), strings.TrimPrefix(got, "v")
	rest, ok := strings.CutPrefix(got, want)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], ".+-"))
}

// context: the longest sequence is the one that is expected, the one that was asked for, and enough for the load.
func context(r Request) (probes.Check, bool) {
	got := r.Server.MaxModelLen
	want, prompt, whole := int64(r.Plan.Server.Expect.MaxModelLen), prompts(r.Plan), longest(r.Plan)
	if want == 0 && got == 0 {
		return untold("the server does not say its longest sequence")
	}
	evidence := []string{fmt.Sprintf("the server says %d tokens", got)}
	asked, ok := engine.Found(engine.ArgumentSettings(r.Server.Argv), engine.ContextTokens)
	if ok {
		evidence = append(evidence, "its arguments ask for "+asked.Value)
	}
	if whole > 0 {
		evidence = append(evidence, fmt.Sprintf("the load needs up to %d", whole))
	}
	switch {
	case want > 0 && got != want:
		return found(probes.CheckFail, evidence, "the longest sequence is %d tokens, the plan wants %d", got, want)
	case prompt > got:
		return found(probes.CheckWarn, evidence, "no prompt fits: the shortest has %d tokens, the longest sequence is %d", prompt, got)
	case whole > got:
		return found(probes.CheckWarn, evidence, "not all of the load fits: up to %d tokens, the longest sequence is %d", whole, got)
	case ok && asked.Count() > 0 && asked.Count() != got:
		return found(probes.CheckWarn, evidence, "the longest sequence is %d tokens, the arguments ask for %s", got, asked.Value)
	}
	return found(probes.CheckOK, evidence, "the longest sequence is %d tokens", got)
}

// longest is what the longest request of a plan needs with its answer, prompts what its shortest prompt does; 0 when that is not known before
// the data are read, or when words are counted.
func longest(p plan.Plan) int64 {
	switch m := p.Protocol.Matrix; {
	case p.Workload.Lengths != "tokens":
		return 0
	case m != nil:
		most := 0
		for _, point := range p.Points() {
			most = max(most, point.Context)
		}
		return int64(most + m.MaxTokens)
	case p.Workload.Kind == "synthetic" && p.Workload.InputLen > 0:
		return int64(p.Workload.InputLen) + int64(p.Workload.Sampling.MaxTokens)
	}
	return 0
}

func prompts(p plan.Plan) int64 {
	switch {
	case p.Workload.Lengths != "tokens":
		return 0
	case p.Protocol.Matrix != nil:
		least := 0
		for i, point := range p.Points() {
			if i == 0 || point.Context < least {
				least = point.Context
			}
		}
		return int64(least)
	case p.Workload.Kind == "synthetic":
		return int64(p.Workload.InputLen)
	}
	return 0
}

// cache: server.expect.kv_tokens.
func cache(r Request) (probes.Check, bool) {
	want, got := int64(r.Plan.Server.Expect.KVTokens), r.Server.KVTokens
	if want == 0 && got == 0 {
		return untold("the server does not say how much its KV cache holds")
	}
	evidence := append([]string{fmt.Sprintf("the server says %d tokens", got)}, words(r.Server.Settings, engine.KVBlocks, engine.KVBlockTokens, engine.KVDType, engine.Slots)...)
	if got < want {
		return found(probes.CheckFail, evidence, "the KV cache holds %d tokens, the plan wants %d or more", got, want)
	}
	return found(probes.CheckOK, evidence, "the KV cache holds %d tokens", got)
}

// words are settings as evidence.
func words(all []engine.Setting, names ...string) []string {
	var out []string
	for _, name := range names {
		if s, ok := engine.Found(all, name); ok {
			out = append(out, s.Name+" "+s.Value+" ("+s.Source+")")
		}
	}
	return out
}

// parallel: the sizes that are expected, and those that the arguments ask for, are those that the server has.
func parallel(r Request) (probes.Check, bool) {
	e := r.Plan.Server.Expect
	var wrong, odd, said []string
	for _, size := range []struct {
		name string
		want int
	}{{engine.TensorParallel, e.Tensor}, {engine.PipelineParallel, e.Pipeline}, {engine.DataParallel, e.Data}, {engine.ExpertParallel, e.Expert}} {
		got, known := engine.Found(r.Server.Settings, size.name)
		asked, isAsked := engine.Found(engine.Sizes(engine.ArgumentSettings(r.Server.Argv)), size.name)
		said = append(said, words(r.Server.Settings, size.name)...)
		switch {
		case size.want > 0 && !known:
			wrong = append(wrong, fmt.Sprintf("%s is not told, the plan wants %d", size.name, size.want))
		case size.want > 0 && got.Count() != int64(size.want):
			wrong = append(wrong, fmt.Sprintf("%s is %s, the plan wants %d", size.name, got.Value, size.want))
		case known && isAsked && got.Value != asked.Value:
			odd = append(odd, fmt.Sprintf("%s is %s, the arguments ask for %s", size.name, got.Value, asked.Value))
		}
	}
	switch {
	case len(wrong) > 0:
		return found(probes.CheckFail, said, "%s", strings.Join(wrong, "; "))
	case len(odd) > 0:
		return found(probes.CheckWarn, said, "%s", strings.Join(odd, "; "))
	case len(said) > 0:
		return found(probes.CheckOK, said, "the model is shared out as the plan says")
	}
	return untold("the server does not say how the model is shared out")
}

// model: the revision and the configuration are those of the plan.
func model(r Request) (probes.Check, bool) {
	e, m := r.Plan.Server.Expect.ConfigSHA256, r.Model
	said := words(r.Server.Settings, engine.Root, engine.Revision)
	if m.ConfigSHA256 != "" {
		said = append(said, "config.json has SHA-256 "+m.ConfigSHA256)
	}
	revision, ok := engine.Found(r.Server.Settings, engine.Revision)
	told := ok && r.Plan.Model.Revision != "" && r.Plan.Model.Path == ""
	switch {
	case told && !sameRevision(r.Plan.Model.Revision, revision.Value):
		return found(probes.CheckFail, said, "revision %s (%s), the plan wants %s", revision.Value, revision.Source, r.Plan.Model.Revision)
	case e != "" && m.ConfigSHA256 == "":
		return found(probes.CheckFail, said, "the plan wants a config.json of SHA-256 %s, and there is none to look at: it needs model.path", e)
	case e != "" && m.ConfigSHA256 != e:
		return found(probes.CheckFail, said, "config.json has SHA-256 %s, the plan wants %s", m.ConfigSHA256, e)
	case m.ConfigSHA256 != "":
		return found(probes.CheckOK, said, "the model's configuration is known")
	case told:
		return found(probes.CheckOK, said, "the revision is the plan's")
	}
	return untold("no config.json was looked at: it needs model.path")
}

// devMode: paths that change the server are open to everybody who reaches it.
func devMode(r Request) (probes.Check, bool) {
	s, ok := engine.Found(r.Server.Settings, engine.DevMode)
	if !ok {
		return probes.Check{State: probes.CheckOK, Text: "the server's development mode does not answer"}, false
	}
	return found(probes.CheckWarn, []string{s.Source + " answers"},
		"the server's development mode is on: whoever reaches it can empty its caches or put it to sleep while it is measured")
}

// threads: llama.cpp's threads wait for each other by turning on the spot, so one that is not run holds up all; beside a client on the same
// machine that costs up to nine tenths of the speed.
func threads(r Request) (probes.Check, bool) {
	if r.Plan.Server.Engine != "llamacpp" || r.Plan.Server.Runtime == "endpoint" || r.CPUs == 0 {
		return untold("it is told of llama.cpp on this machine's CPUs alone")
	}
	servers := serversOf(r.Server) // all with the plan's arguments
	for _, onGPU := range []string{"-ngl", "--gpu-layers", "--n-gpu-layers"} {
		if _, ok := engine.FlagValue(servers[0].Argv, []string{onGPU}); ok {
			return untold("it is told of llama.cpp on this machine's CPUs alone")
		}
	}
	value, ok := engine.FlagValue(servers[0].Argv, []string{"-t", "--threads"})
	n, err := strconv.Atoi(value)
	n *= len(servers)
	evidence := []string{fmt.Sprintf("%d CPUs", r.CPUs), "-t " + value}
	if len(servers) > 1 {
		evidence = append(evidence, fmt.Sprintf("%d servers", len(servers)))
	}
	switch {
	case !ok:
		return found(probes.CheckWarn, evidence[:1], "llama.cpp chooses its threads itself: beside the client on this machine they may hold each other up")
	case err == nil && n >= r.CPUs && r.CPUs > 1:
		return found(probes.CheckWarn, evidence, "llama.cpp has %d threads on %d CPUs, which the client needs too: they may hold each other up", n, r.CPUs)
	}
	return found(probes.CheckOK, evidence, "llama.cpp has %d threads", n)
}
