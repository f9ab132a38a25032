package plan

import "strings"

// maxPoints bounds a plan's points; more is a slip of the pen.
const maxPoints = 10_000

func (v *validator) workload(p Plan) {
	w := p.Workload
	v.dataset(w)
	made := w.Kind == "synthetic" || w.Kind == "text"
	v.lengths(p)
	switch {
	case w.InputLen > 0 && p.Protocol.Matrix != nil:
		v.fail("workload.input_len", "value", "remove it", "workload.input_len has no meaning in a matrix: protocol.matrix.contexts says how long prompts are")
	case w.InputLen > 0 && !made && w.Kind != "sharegpt":
		v.fail("workload.input_len", "value", "remove it", "workload.input_len has no meaning for kind %s: its prompts keep their length", w.Kind)
	}
	if p.Protocol.Matrix != nil && !made && !v.failed("workload.kind") {
		v.fail("workload.kind", "value", "", "workload.kind %q has no prompts of a wanted length: a matrix needs synthetic or text", w.Kind)
	}
	if w.ToolDelay && w.Kind != "agentic" {
		v.fail("workload.tool_delay", "value", "remove it", "workload.tool_delay has a meaning for kind agentic only")
	}
}

// lengths checks what goes with prompts of a wanted length, or with their number.
func (v *validator) lengths(p Plan) {
	w := p.Workload
	traced := p.Protocol.Serve != nil && p.Protocol.Serve.Arrival == "trace"
	switch {
	case w.Lengths != "" && w.InputLen == 0 && p.Protocol.Matrix == nil && w.Kind != "trace":
		v.fail("workload.lengths", "value", "remove it, or write input_len", "workload.lengths has no meaning without a wanted length")
	case w.SharedPrompts > 0 && (w.Kind == "agentic" || w.Kind == "trace"):
		v.fail("workload.shared_prompts", "value", "remove it", "workload.shared_prompts has no meaning for kind %s: its data says what is shared", w.Kind)
	case w.SharedPrompts > 0 && p.Protocol.Matrix != nil:
		v.fail("workload.shared_prompts", "value", "remove it", "workload.shared_prompts has no meaning in a matrix: a cell's streams share its prompt")
	case traced && w.Kind != "trace":
		v.fail("workload.kind", "value", "write kind: trace and its dataset", "protocol.serve.arrival trace needs workload kind trace; it is %s", w.Kind)
	}
}

// dataset checks that prompts come from one place.
func (v *validator) dataset(w Workload) {
	d := w.Dataset
	const at = "workload.dataset"
	switch {
	case w.Kind == "synthetic" && (d != Dataset{}):
		v.fail(at, "value", "remove it, or choose the kind of the data", "%s has no meaning for kind synthetic, whose prompts are made", at)
		return
	case d.Path != "" && d.Builtin != "":
		v.fail(at, "value", "keep one of them", "%s has a path and a builtin", at)
	case w.Kind == "agentic" && d.Path == "" && d.Builtin == "":
		v.fail(at, "missing", "write dataset: {builtin: agentic-small}, or a path", "%s is missing: kind agentic needs a path or a builtin", at)
	case w.Kind != "synthetic" && d.Path == "" && d.Builtin == "" && !v.failed("workload.kind"):
		v.fail(at, "missing", "write dataset: {path: …}", "%s is missing: kind %s needs a path", at, w.Kind)
	}
	if d.SHA256 != "" && !sha256Form.MatchString(d.SHA256) {
		v.fail(at+".sha256", "value", "assay plan pin writes the digest of the data into the plan", "%s.sha256 is not 64 hex digits in lower case", at)
	}
}

func (v *validator) protocol(p Plan) {
	count := 0
	for _, there := range []bool{p.Protocol.Sweep != nil, p.Protocol.Serve != nil, p.Protocol.Matrix != nil} {
		if there {
			count++
		}
	}
	if count > 1 {
		v.fail("protocol", "value", "keep one and make a plan of each other", "protocol holds %d protocols; a plan has exactly one of sweep, serve, matrix", count)
		return
	}
	switch {
	case p.Protocol.Sweep != nil:
		v.sweep(*p.Protocol.Sweep)
	case p.Protocol.Serve != nil:
		v.serve(*p.Protocol.Serve)
	case p.Protocol.Matrix == nil && !v.failed("protocol"):
		v.fail("protocol", "missing", "write an example with: assay plan init --protocol sweep", "protocol holds none of sweep, serve, matrix; a plan has exactly one")
		return
	}
	v.points(p)
}

// points checks that every point of the plan is there once.
func (v *validator) points(p Plan) {
	if m := p.Protocol.Matrix; m != nil && len(m.prefills())+len(m.Contexts)*len(m.Concurrency) > maxPoints {
		v.fail("protocol.matrix", "value", "", "protocol.matrix makes more than %d points", maxPoints)
		return
	}
	seen := map[string]bool{}
	for _, point := range p.Points() {
		if seen[point.ID] {
			v.fail(p.Protocol.listOf(point), "value", "write each value once", "%s makes the point %s twice", p.Protocol.listOf(point), point.ID)
			return
		}
		seen[point.ID] = true
	}
}

// listOf names the list whose values make a point.
func (p Protocol) listOf(point Point) string {
	switch {
	case point.Phase == PhaseSweep:
		return "protocol.sweep.concurrency"
	case point.Speed > 0:
		return "protocol.serve.speed"
	case point.Phase == PhaseServe:
		return "protocol.serve.rate"
	case point.Phase == PhaseDecode:
		return "protocol.matrix.concurrency"
	case len(p.Matrix.PrefillContexts) > 0:
		return "protocol.matrix.prefill_contexts"
	}
	return "protocol.matrix.contexts"
}

func (v *validator) sweep(s Sweep) {
	const at = "protocol.sweep"
	if s.Requests == 0 && s.Duration == 0 && s.MinDuration == 0 && s.Trajectories == 0 {
		v.fail(at, "missing", "write requests: 500, duration: 5m, min_duration: 20m or trajectories: 600", "%s has no end: it needs requests, duration, min_duration or trajectories", at)
	}
	if s.Duration > 0 && s.MinDuration > s.Duration {
		v.fail(at+".min_duration", "value", "", "%s.min_duration %s is longer than duration %s", at, s.MinDuration, s.Duration)
	}
	v.warmup(s.Warmup, at+".warmup")
}

func (v *validator) warmup(w Warmup, at string) {
	switch {
	case v.failed(at + ".stable"):
	case w.Stable == 0 && w.Timeout > 0:
		v.fail(at+".timeout", "value", "remove it, or write stable: 0.05", "%s.timeout has no meaning without stable", at)
	case w.Stable > 0 && w.Timeout <= w.Duration:
		v.fail(at+".timeout", "value", "write a longer one", "%s.timeout %s leaves no time after duration %s for the load to be stable", at, w.Timeout, w.Duration)
	}
}

func (v *validator) serve(s Serve) {
	const at = "protocol.serve"
	if s.Requests == 0 && s.Duration == 0 && s.Arrival != "trace" {
		v.fail(at, "missing", "write requests: 500 or duration: 5m", "%s has no end: it needs requests or duration", at)
	}
	v.rates(s, at)
	if cut := s.Window.Warmup + s.Window.Cooldown; s.Duration > 0 && cut >= s.Duration {
		v.fail(at+".window", "value", "", "%s.window leaves nothing: warmup and cooldown take %s of %s", at, cut, s.Duration)
	}
	if s.Burstiness != 0 && s.Arrival != "gamma" && strings.TrimSpace(s.Arrival) != "" {
		v.fail(at+".burstiness", "value", "remove it or write arrival: gamma", "%s.burstiness has a meaning for arrival gamma only", at)
	}
}

// rates checks that a schedule's pace is said once: by rate, or by the speed of a trace.
func (v *validator) rates(s Serve, at string) {
	switch traced := s.Arrival == "trace"; {
	case traced && len(s.Rate) > 0:
		v.fail(at+".rate", "value", "remove it; speed makes a trace faster or slower", "%s.rate has no meaning for arrival trace", at)
	case !traced && len(s.Rate) == 0 && !v.failed(at+".rate"):
		v.fail(at+".rate", "missing", "write requests per second, such as rate: 10", "%s.rate is missing", at)
	case !traced && len(s.Speed) > 0:
		v.fail(at+".speed", "value", "remove it or write arrival: trace", "%s.speed has a meaning for arrival trace only", at)
	case traced && s.Ramp != nil:
		v.fail(at+".ramp", "value", "remove it", "%s.ramp has no meaning for arrival trace", at)
	}
}
