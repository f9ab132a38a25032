package plan

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay/plan/keys"
	"assay/plan/syntax"
)

// fillDefaults completes a plan: first what depends on other keys, then the defaults its fields' tags state. A key that was
// written keeps its value, also when that is zero; an empty text counts as not written.
func fillDefaults(p *Plan, written map[string]syntax.Place) {
	p.Server.fillDefaults()
	if p.Model.Served == "" {
		p.Model.Served = p.Model.Name
	}
	p.Workload.Salt = saltOf(p.Workload)
	if _, ok := written["workload.input_len"]; !ok {
		p.Workload.InputLen = inputLenOf(*p)
	}
	for i := range p.Routers {
		p.Routers[i].fillDefaults()
	}
	if c := &p.Client; c.Runtime == "" && c.Kind != "" && c.Kind != "native" {
		c.Runtime = pick(c.Image != "", "docker", "process")
	}
	if p.Workload.Lengths == "" && (p.Workload.InputLen > 0 || p.Workload.Kind == "trace" || p.Protocol.Matrix != nil) {
		p.Workload.Lengths = "tokens"
	}
	if s := p.Protocol.Serve; s != nil {
		s.fillDefaults(written)
	}
	if s := p.Protocol.Sweep; s != nil && s.Warmup.Stable > 0 && !has(written, "protocol.sweep.warmup.timeout") {
		s.Warmup.Timeout = Duration(10 * time.Minute)
	}
	fillTagged(reflect.ValueOf(p).Elem(), "", written)
}

func (s *Server) fillDefaults() {
	if s.Runtime == "" {
		s.Runtime = s.impliedRuntime()
	}
	if s.Engine == "" && s.Runtime == "endpoint" {
		s.Engine = "openai"
	}
	if s.Endpoint == "" {
		s.Endpoint = "chat"
		for _, url := range s.BaseURLs() {
			if strings.HasSuffix(strings.TrimRight(url, "/"), "/v1/completions") {
				s.Endpoint = "completions"
			}
		}
	}
	if s.Runtime != "docker" {
		return
	}
	large := slices.Contains([]string{"vllm", "sglang", "trtllm", "tgi"}, s.Engine) // engines for accelerators, whose workers talk through shared memory
	if s.GPUs == "" && !large {                                                     // what a large one gets depends on the machine
		s.GPUs = "none"
	}
	if s.ShmSize == "" && s.IPC != "host" {
		s.ShmSize = pick(large, "16g", "")
	}
	if s.Network == "" {
		s.Network = "bridge"
	}
}

func pick(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

// impliedRuntime is the one runtime that the written keys allow; "" when they leave it open.
func (s *Server) impliedRuntime() string {
	running := s.URL != "" || len(s.URLs) > 0
	switch {
	case running && s.Image == "" && s.Command == nil:
		return "endpoint"
	case s.Image != "" && !running:
		return "docker"
	case s.Image == "" && !running && (s.Command != nil || s.Engine == "sim"):
		return "process"
	}
	return ""
}

func (s *Serve) fillDefaults(written map[string]syntax.Place) {
	switch s.Arrival {
	case "gamma":
		if !has(written, "protocol.serve.burstiness") {
			s.Burstiness = 1
		}
	case "trace":
		if !has(written, "protocol.serve.speed") {
			s.Speed = []float64{1}
		}
	}
}

func (r *Router) fillDefaults() {
	if r.Runtime != "" || r.Kind == RouterNone {
		return
	}
	r.Runtime = pick(r.Image != "", "docker", "process")
}

// saltOf resolves the short forms of a salt.
func saltOf(w Workload) string {
	switch w.Salt {
	case "true":
		return pick(w.Kind == "agentic", "session", "run")
	case "false":
		return "none"
	}
	return w.Salt
}

// inputLenOf is the default length of a prompt, for the kinds that make prompts of a length.
func inputLenOf(p Plan) Length {
	made := p.Workload.Kind == "" || p.Workload.Kind == "synthetic" || p.Workload.Kind == "text"
	if made && p.Protocol.Matrix == nil {
		return 1024
	}
	return 0
}

// fillTagged gives every key that was not written the default of its field's tag.
func fillTagged(v reflect.Value, path string, written map[string]syntax.Place) {
	for _, k := range keys.Of(v.Type()) {
		field, at := v.Field(k.Index), keys.Join(path, k.Name)
		if field.Kind() == reflect.Pointer {
			field = field.Elem() // the zero Value when nil, which has no kind and no default
		}
		switch {
		case field.Kind() == reflect.Struct:
			fillTagged(field, at, written)
		case field.Kind() == reflect.Slice && field.Type().Elem().Kind() == reflect.Struct:
			for i := range field.Len() {
				fillTagged(field.Index(i), keys.Join(at, strconv.Itoa(i)), written)
			}
		case k.Default != "" && (!has(written, at) || field.Kind() == reflect.String && field.String() == ""):
			if err := setScalar(field, k.Default); err != nil {
				panic("plan: default of " + at + ": " + err.Error()) // a fault of this package's tags, seen by every test
			}
		}
	}
}

func has(written map[string]syntax.Place, path string) bool {
	_, ok := written[path]
	return ok
}
