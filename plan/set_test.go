package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSet(t *testing.T) {
	for name, c := range map[string]struct {
		sets []string
		got  func(Plan) any
		want any
	}{
		"text":            {[]string{"name=other"}, func(p Plan) any { return p.Name }, "other"},
		"text with =":     {[]string{"name=a=b"}, func(p Plan) any { return p.Name }, "a=b"},
		"text like YAML":  {[]string{"name=[a, b]: c #d"}, func(p Plan) any { return p.Name }, "[a, b]: c #d"},
		"quoted text":     {[]string{`workload.system="a\tb"`}, func(p Plan) any { return p.Workload.System }, "a\tb"},
		"number as text":  {[]string{"name=0123"}, func(p Plan) any { return p.Name }, "0123"},
		"list":            {[]string{"protocol.sweep.concurrency=1,2,4"}, func(p Plan) any { return p.Protocol.Sweep.Concurrency }, []int{1, 2, 4}},
		"list of one":     {[]string{"protocol.sweep.concurrency=7"}, func(p Plan) any { return p.Protocol.Sweep.Concurrency }, []int{7}},
		"list in YAML":    {[]string{"protocol.sweep.concurrency=[3, 5]"}, func(p Plan) any { return p.Protocol.Sweep.Concurrency }, []int{3, 5}},
		"item":            {[]string{"protocol.sweep.concurrency.1=9"}, func(p Plan) any { return p.Protocol.Sweep.Concurrency }, []int{1, 9}},
		"one item more":   {[]string{"protocol.sweep.concurrency.2=9"}, func(p Plan) any { return p.Protocol.Sweep.Concurrency }, []int{1, 2, 9}},
		"first arg":       {[]string{"server.args.0=--x, y"}, func(p Plan) any { return p.Server.Args }, []string{"--x, y"}},
		"args":            {[]string{"server.args=--x,--y=1"}, func(p Plan) any { return p.Server.Args }, []string{"--x", "--y=1"}},
		"variable":        {[]string{"server.env.A_B=1"}, func(p Plan) any { return p.Server.Env }, map[string]string{"A_B": "1"}},
		"check":           {[]string{"checks.gpu_count=8", "checks.idle=ignore", "checks.swap=required"}, func(p Plan) any { return p.Checks }, map[string]any{"gpu_count": 8.0, "idle": "ignore", "swap": "required"}},
		"new section":     {[]string{"workload.sampling.temperature=0.5"}, func(p Plan) any { return *p.Workload.Sampling.Temperature }, 0.5},
		"duration":        {[]string{"protocol.sweep.duration=90s"}, func(p Plan) any { return p.Protocol.Sweep.Duration.String() }, "1m30s"},
		"length":          {[]string{"workload.input_len=8k"}, func(p Plan) any { return int(p.Workload.InputLen) }, 8192},
		"seed":            {[]string{"workload.seed=18446744073709551615"}, func(p Plan) any { return p.Workload.Seed }, uint64(18446744073709551615)},
		"whole section":   {[]string{"protocol={serve: {rate: [0.5, 10], requests: 3}}"}, func(p Plan) any { return ids(p) }, []string{"r0.5", "r10"}},
		"other protocol":  {[]string{"protocol.sweep=", "protocol.serve.rate=4", "protocol.serve.requests=1"}, func(p Plan) any { return ids(p) }, []string{"r4"}},
		"back to default": {[]string{"workload.kind="}, func(p Plan) any { return p.Workload.Kind }, "synthetic"},
		"the last counts": {[]string{"name=a", "name=b"}, func(p Plan) any { return p.Name }, "b"},
		"router":          {[]string{"routers.0.points=2", "routers.0.kind=nginx"}, func(p Plan) any { return p.Points()[1].Router.Kind }, "nginx"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := ParseSet([]byte(base), c.sets)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, c.got(p)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestSetFaults(t *testing.T) {
	for set, want := range map[string]string{
		"server.argz=x":                  `override server.argz: server has no key "argz"; did you mean "args"?`,
		"sever.args=x":                   `override sever.args: a plan has no key "sever"; did you mean "server"?`,
		"protocol.sweep.concurrency.5=1": `override protocol.sweep.concurrency.5: protocol.sweep.concurrency has the items 0 to 1, and 2 adds one; there is no "5"`,
		"protocol.sweep.concurrency.x=1": `override protocol.sweep.concurrency.x: protocol.sweep.concurrency has the items 0 to 1, and 2 adds one; there is no "x"`,
		"server.args.1=x":                `override server.args.1: server.args has no items, and 0 adds one; there is no "1"`,
		"server.env.A.B=1":               `override server.env.A.B: server.env: "A.B" is not the name of a variable: letters, digits and _`,
		"name.x=1":                       `override name.x: name is a text and has no key "x"`,
		"name":                           `override "name" is not path=value`,
		"=x":                             `override "=x" is not path=value`,
		"protocol.sweep.requests=many":   `override protocol.sweep.requests: protocol.sweep.requests: "many" is not a whole number`,
		"protocol.sweep.requests=[1":     "override protocol.sweep.requests: the plan is not YAML: sequence end token ']' not found",
		"model={nam: x}":                 `override model: unknown key "nam" in model; did you mean "name"?`,
		"protocol.sweep.concurrency=0":   "override protocol.sweep.concurrency: protocol.sweep.concurrency.0 is 0; the least is 1",
	} {
		if f := refused(t, base, set); f.Text != want {
			t.Errorf("%s\ngot  %s\nwant %s", set, f.Text, want)
		}
	}
}

func ids(p Plan) []string {
	var out []string
	for _, point := range p.Points() {
		out = append(out, point.ID)
	}
	return out
}
