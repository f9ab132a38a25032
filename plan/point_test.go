package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPoints(t *testing.T) {
	router := Router{Points: "2-8", Kind: "nginx", Runtime: "process"}
	none := Router{Kind: RouterNone}
	withRouter := []string{"routers.0={points: 2-8, kind: nginx}"}
	for name, c := range map[string]struct {
		text string
		sets []string
		want []Point
	}{
		"sweep in the plan's order": {base, append(withRouter, "protocol.sweep.concurrency=8,1,9"), []Point{
			{ID: "c8", Phase: PhaseSweep, Concurrency: 8, Router: router},
			{ID: "c1", Phase: PhaseSweep, Concurrency: 1, Router: none},
			{ID: "c9", Phase: PhaseSweep, Concurrency: 9, Router: none},
		}},
		"serve without limit has no load to choose by": {endpoint, append(withRouter, "protocol.serve.rate=140,0.5,1000000"), []Point{
			{ID: "r140", Phase: PhaseServe, Rate: 140, Router: none},
			{ID: "r0.5", Phase: PhaseServe, Rate: 0.5, Router: none},
			{ID: "r1000000", Phase: PhaseServe, Rate: 1e6, Router: none},
		}},
		"serve with limit": {endpoint, append(withRouter, "protocol.serve.max_concurrency=8"), []Point{
			{ID: "r10", Phase: PhaseServe, Rate: 10, Router: router},
		}},
		"matrix: prefill first, as one request at a time": {matrix, append(withRouter, "protocol.matrix.contexts=8k,1019k", "protocol.matrix.concurrency=1,64,2"), []Point{
			{ID: "prefill-8192", Phase: PhasePrefill, Context: 8192, Router: none},
			{ID: "prefill-1043456", Phase: PhasePrefill, Context: 1043456, Router: none},
			{ID: "decode-8192x1", Phase: PhaseDecode, Context: 8192, Concurrency: 1, Router: none},
			{ID: "decode-8192x64", Phase: PhaseDecode, Context: 8192, Concurrency: 64, Router: none},
			{ID: "decode-8192x2", Phase: PhaseDecode, Context: 8192, Concurrency: 2, Router: router},
			{ID: "decode-1043456x1", Phase: PhaseDecode, Context: 1043456, Concurrency: 1, Router: none},
			{ID: "decode-1043456x64", Phase: PhaseDecode, Context: 1043456, Concurrency: 64, Router: none},
			{ID: "decode-1043456x2", Phase: PhaseDecode, Context: 1043456, Concurrency: 2, Router: router},
		}},
		"all": {endpoint, []string{"routers.0={points: all, kind: none}"}, []Point{
			{ID: "r10", Phase: PhaseServe, Rate: 10, Router: Router{Points: "all", Kind: RouterNone}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := ParseSet([]byte(c.text), c.sets)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, p.Points()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestDefaultsThatDepend(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		sets []string
		got  func(Plan) any
		want any
	}{
		"runtime by url":      {endpoint, []string{"server.runtime="}, func(p Plan) any { return p.Server.Runtime }, "endpoint"},
		"engine by url":       {endpoint, []string{"server.runtime=", "server.engine="}, func(p Plan) any { return p.Server.Engine }, "openai"},
		"runtime by image":    {docker, []string{"server.runtime="}, func(p Plan) any { return p.Server.Runtime }, "docker"},
		"runtime by command":  {matrix, []string{"server={engine: llamacpp, command: llama-server}"}, func(p Plan) any { return p.Server.Runtime }, "process"},
		"runtime of sim":      {matrix, []string{"server.runtime="}, func(p Plan) any { return p.Server.Runtime }, "process"},
		"completions by url":  {endpoint, []string{"server.url=http://h/v1/completions/"}, func(p Plan) any { return p.Server.Endpoint }, "completions"},
		"chat by url":         {endpoint, []string{"server.url=http://h/v1/chat/completions"}, func(p Plan) any { return p.Server.Endpoint }, "chat"},
		"gpus of vllm":        {docker, nil, func(p Plan) any { return p.Server.GPUs + " " + p.Server.ShmSize + " " + p.Server.Network }, " 16g bridge"},
		"gpus of llamacpp":    {docker, []string{"server.engine=llamacpp"}, func(p Plan) any { return p.Server.GPUs + " " + p.Server.ShmSize }, "none "},
		"no gpus in process":  {matrix, nil, func(p Plan) any { return p.Server.GPUs + p.Server.Network }, ""},
		"salt":                {docker, nil, func(p Plan) any { return p.Workload.Salt }, "run"},
		"salt true":           {docker, []string{"workload.salt=true"}, func(p Plan) any { return p.Workload.Salt }, "run"},
		"salt true, agentic":  {docker, []string{"workload={kind: agentic, dataset: {builtin: agentic-small}, salt: true}"}, func(p Plan) any { return p.Workload.Salt }, "session"},
		"salt false":          {docker, []string{"workload.salt=false"}, func(p Plan) any { return p.Workload.Salt }, "none"},
		"salt text":           {docker, []string{"workload.salt=pepper"}, func(p Plan) any { return p.Workload.Salt }, "pepper"},
		"input_len":           {docker, nil, func(p Plan) any { return p.Workload.InputLen }, Length(1024)},
		"input_len in matrix": {matrix, nil, func(p Plan) any { return p.Workload.InputLen }, Length(0)},
		"burstiness of gamma": {endpoint, []string{"protocol.serve.arrival=gamma"}, func(p Plan) any { return p.Protocol.Serve.Burstiness }, 1.0},
		"burstiness else":     {endpoint, nil, func(p Plan) any { return p.Protocol.Serve.Burstiness }, 0.0},
		"lengths":             {docker, nil, func(p Plan) any { return p.Workload.Lengths }, "tokens"},
		"lengths in matrix":   {matrix, nil, func(p Plan) any { return p.Workload.Lengths }, "tokens"},
		"no lengths":          {docker, []string{"workload={kind: agentic, dataset: {builtin: agentic-small}}"}, func(p Plan) any { return p.Workload.Lengths }, ""},
		"lengths of a trace":  {endpoint, []string{"workload={kind: trace, dataset: {path: a}}", "protocol.serve={arrival: trace}"}, func(p Plan) any { return p.Workload.Lengths }, "tokens"},
		"speed":               {endpoint, []string{"workload={kind: trace, dataset: {path: a}}", "protocol.serve={arrival: trace}"}, func(p Plan) any { return p.Points()[0].ID }, "x1"},
		"speed 0.5":           {endpoint, []string{"workload={kind: trace, dataset: {path: a}}", "protocol.serve={arrival: trace, speed: 0.5}"}, func(p Plan) any { return p.Points()[0].Speed }, 0.5},
		"runtime by urls":     {endpoint, []string{"server={urls: [http://a, http://b]}"}, func(p Plan) any { return p.Server.Runtime + p.Server.Engine }, "endpointopenai"},
		"prefill contexts":    {matrix, []string{"protocol.matrix.prefill_contexts=2k,1048512"}, func(p Plan) any { return p.Points()[1].ID }, "prefill-1048512"},
		"warm-up":             {docker, []string{"protocol={sweep: {concurrency: 1, requests: 1, warmup: {stable: 0.05}}}"}, func(p Plan) any { return p.Protocol.Sweep.Warmup.Timeout.String() }, "10m"},
		"warm-up, written":    {docker, []string{"protocol={sweep: {concurrency: 1, requests: 1, warmup: {stable: 0.05, timeout: 1m}}}"}, func(p Plan) any { return p.Protocol.Sweep.Warmup.Timeout.String() }, "1m"},
		"warm-up as it was":   {docker, []string{"protocol={sweep: {concurrency: 1, requests: 1, warmup: {requests: 3}}}"}, func(p Plan) any { return p.Protocol.Sweep.Warmup.Timeout }, Duration(0)},
		"stable":              {matrix, nil, func(p Plan) any { return p.Protocol.Matrix.Stable.String() }, "3s"},
		"served":              {docker, nil, func(p Plan) any { return p.Model.Served }, "m"},
		"zero is kept":        {docker, []string{"client.drain=0s"}, func(p Plan) any { return p.Client.Drain }, Duration(0)},
		"any model":           {endpoint, []string{"model.name=*"}, func(p Plan) any { return p.Model.Served }, AnyModel},
		"router with image":   {docker, []string{"routers.0={points: all, kind: nginx, image: n@" + digest + "}"}, func(p Plan) any { return p.Routers[0].Runtime }, "docker"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := ParseSet([]byte(c.text), c.sets)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, c.got(p)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestIdleRouters(t *testing.T) {
	for name, c := range map[string]struct {
		sets []string
		want string
	}{
		"no router":      {[]string{"protocol.sweep.concurrency=2"}, ""},
		"used":           {[]string{"protocol.sweep.concurrency=2,32", "routers=[{points: '32', kind: nginx}]"}, ""},
		"beside":         {[]string{"protocol.sweep.concurrency=2", "routers=[{points: '1-8', kind: nginx}, {points: '32', kind: haproxy}]"}, `routers.1 (haproxy) is not used: its points are "32", and the plan has none of them`},
		"starts nothing": {[]string{"protocol.sweep.concurrency=2", "routers=[{points: '32', kind: none}]"}, ""},
	} {
		p, err := ParseSet([]byte(base), c.sets)
		if err != nil {
			t.Fatal(name, err)
		}
		if got := strings.Join(p.IdleRouters(), "\n"); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
