package router

import (
	"slices"
	"strings"
	"testing"

	"assay/containers/enginetest"
	"assay/fault"
)

func setup(kind string) Setup {
	return Setup{Host: "127.0.0.1", Port: 30001, AdminPort: 30002, Session: DefaultHeader, Upstreams: []string{"127.0.0.1:8001", "127.0.0.1:8002"}, Streams: 512, Workers: 4, Reuse: true,
		Config: "/run/" + kind}
}

// TestKinds keeps what each kind is told: its configuration file, and the arguments after its program.
func TestKinds(t *testing.T) {
	args := map[string][]string{}
	for _, k := range Kinds() {
		s := setup(k.ConfigName)
		if k.Name == "generic" {
			s.Args = []string{"--listen", "{host}:{port}", "--by={session_header}", "--backends", "{upstreams}", "--all={upstreams}", "literally {other}"}
		}
		got, err := k.Args(s)
		if err != nil {
			t.Fatal(err)
		}
		args[k.Name] = got
		if (k.Config == nil) != (k.ConfigName == "") {
			t.Errorf("%s: a configuration without a name, or a name without one", k.Name)
		}
		if k.Config != nil {
			enginetest.Golden(t, k.ConfigName, k.Config(s))
		}
		if found, err := Named(k.Name); err != nil || found.Name != k.Name {
			t.Errorf("%s is not found: %v", k.Name, err)
		}
	}
	enginetest.GoldenJSON(t, "args.json", args)
	_, err := Named("envoy")
	enginetest.WantFault(t, err, "plan.router_unknown")
	if hint := fault.Of(err, fault.Plan).Hint; !strings.Contains(hint, "none, nginx, haproxy, sglang-router, vllm-router, generic") {
		t.Errorf("the hint is %q", hint)
	}
}

// TestNoReuse: before servers that close connections without a word, none is used again.
func TestNoReuse(t *testing.T) {
	s := setup("")
	s.Reuse = false
	for config, want := range map[string]string{string(nginxConfig(s)): `proxy_set_header Connection "close";`, string(haproxyConfig(s)): "  http-reuse never\n  option http-server-close\n"} {
		if !strings.Contains(config, want) || strings.Contains(config, "keepalive_timeout 3s") || strings.Contains(config, "pool-purge-delay") {
			t.Errorf("no %q:\n%s", want, config)
		}
	}
}

// TestArguments: what the plan says counts, however it is written.
func TestArguments(t *testing.T) {
	s := setup("")
	s.Args = []string{"--policy", "round_robin", "--port=9"}
	for _, k := range []Kind{sglangRouter(), vllmRouter()} {
		got, err := k.Args(s)
		if err != nil {
			t.Fatal(err)
		}
		all := strings.Join(got, " ")
		if strings.Count(all, "--policy") != 1 || strings.Count(all, "--port") != 1 || !strings.HasSuffix(all, "--policy round_robin --port=9") {
			t.Errorf("%s: %s", k.Name, all)
		}
		if !strings.Contains(all, "--worker-urls http://127.0.0.1:8001 http://127.0.0.1:8002 --") {
			t.Errorf("%s: %s", k.Name, all)
		}
	}
}

// TestHeader: a kind that is told its header takes the first, one that has its own only that.
func TestHeader(t *testing.T) {
	for _, c := range []struct {
		kind string
		sent []string
		want string
	}{
		{"nginx", []string{"X-Mine", "X-Session-ID"}, "X-Mine"},
		{"generic", []string{"X-Mine"}, "X-Mine"},
		{"haproxy", nil, ""},
		{"sglang-router", []string{"X-Session-ID", "x-smg-routing-key"}, "x-smg-routing-key"},
		{"sglang-router", []string{"X-Session-ID"}, ""},
		{"vllm-router", []string{"X-Request-ID", "X-Correlation-ID"}, "X-Correlation-ID"},
		{"vllm-router", []string{"X-Request-ID"}, ""}, // another one for each request
	} {
		k, err := Named(c.kind)
		if err != nil {
			t.Fatal(err)
		}
		if got := k.Header(c.sent); got != c.want {
			t.Errorf("%s with %q: %q, want %q", c.kind, c.sent, got, c.want)
		}
	}
}

// TestRoom: every kind has room for two connections of each request and a tenth more, in one process or spread over the workers.
func TestRoom(t *testing.T) {
	for _, k := range Kinds() {
		for _, streams := range []int{1, 64, 512, 10800} {
			for _, workers := range []int{1, 2, 16} {
				s := setup("")
				s.Streams, s.Workers = streams, workers
				together := k.Files(s)
				if k.Name == "nginx" {
					together *= workers
				}
				if least := 2 * (streams + streams/10); together < least {
					t.Errorf("%s with %d workers: %d files for %d requests, %d are too few", k.Name, workers, k.Files(s), streams, least)
				}
			}
		}
	}
	one, many := setup(""), setup("")
	one.Streams, one.Workers, many.Streams, many.Workers = 10800, 1, 10800, 16
	if one.share() != one.room() || many.share() < many.room()/16 || many.share() > many.room()/8 {
		t.Errorf("of %d requests one worker meets %d, each of 16 up to %d", one.room(), one.share(), many.share())
	}
	if !slices.Contains(strings.Fields(string(nginxConfig(many))), "reuseport") {
		t.Error("nothing spreads connections over nginx's workers")
	}
}
