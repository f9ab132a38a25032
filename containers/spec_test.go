package containers

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/containers/enginetest"
	"assay/containers/port"
	"assay/plan"
)

const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func testPlan(engine, runtime string) plan.Plan {
	p := plan.Plan{Name: "t", Model: plan.Model{Name: "tiny", Served: "lab/tiny", Revision: "1bae0e1"}}
	p.Server = plan.Server{Engine: engine, Runtime: runtime, Stop: plan.Stop{Grace: plan.Duration(10 * time.Second)}}
	return p
}

var specOptions = SpecOptions{Owner: "owner1", Run: "run1", Dir: "/data/runs/run1", Executable: "/usr/bin/assay"}

// specCases are plans whose spec is kept as a golden file: each engine in each runtime, and the arguments a plan may take over.
func specCases() map[string]plan.Plan {
	cases := map[string]plan.Plan{}
	add := func(name, engine, runtime string, change func(*plan.Plan)) {
		p := testPlan(engine, runtime)
		if change != nil {
			change(&p)
		}
		cases[name] = p
	}
	add("vllm process", "vllm", "process", nil)
	add("vllm process, model on disk", "vllm", "process", func(p *plan.Plan) { p.Model.Path = "/models/tiny" })
	add("vllm process, old module", "vllm", "process", func(p *plan.Plan) {
		p.Server.Command = []string{"python3", "-m", "vllm.entrypoints.openai.api_server"}
	})
	add("vllm docker", "vllm", "docker", func(p *plan.Plan) {
		p.Model.Path, p.Server.Image, p.Server.GPUs = "/mnt/tiny", "vllm/vllm-openai-rocm@"+digest, "all"
		p.Server.Args, p.Server.Env = []string{"--tensor-parallel-size", "8"}, map[string]string{"VLLM_ROCM_USE_AITER": "1", "HF_HUB_OFFLINE": "0"}
		p.Server.Mounts = []plan.Mount{{Source: "/cache", Target: "/root/.cache", Writable: true}}
	})
	add("vllm docker, host network", "vllm", "docker", func(p *plan.Plan) {
		p.Server.Image, p.Server.Network, p.Server.ShmSize = "vllm@"+digest, "host", "32g"
	})
	add("vllm, all said by the plan", "vllm", "process", func(p *plan.Plan) {
		p.Server.Args = []string{"other/model", "--port=9001", "--host", "0.0.0.0", "--served-model-name=x", "--revision", "r", "--tokenizer-revision", "r"}
	})
	add("sglang process", "sglang", "process", nil)
	add("sglang docker", "sglang", "docker", func(p *plan.Plan) { p.Model.Path, p.Server.Image = "/mnt/tiny", "lmsysorg/sglang@"+digest })
	add("llamacpp process", "llamacpp", "process", func(p *plan.Plan) { p.Model.Path, p.Server.Args = "/models/t.gguf", []string{"-t", "1"} })
	add("llamacpp process, from a hub", "llamacpp", "process", func(p *plan.Plan) { p.Server.Args = []string{"-hf", "lab/tiny-GGUF"} })
	add("llamacpp docker", "llamacpp", "docker", func(p *plan.Plan) {
		p.Model.Path, p.Server.Image, p.Server.Args = "/models/t.gguf", "llama@"+digest, []string{"--port", "8080", "-a", "mine"}
	})
	add("trtllm process", "trtllm", "process", nil)
	add("trtllm docker", "trtllm", "docker", func(p *plan.Plan) {
		p.Model.Path, p.Server.Image, p.Server.Args = "/mnt/tiny", "nvcr.io/nvidia/tensorrt-llm/release@"+digest, []string{"--tp_size", "8"}
	})
	add("tgi process", "tgi", "process", nil)
	add("tgi docker", "tgi", "docker", func(p *plan.Plan) {
		p.Model.Path, p.Server.Image = "/mnt/tiny", "ghcr.io/huggingface/text-generation-inference@"+digest
	})
	add("ollama process", "ollama", "process", nil)
	add("ollama docker", "ollama", "docker", func(p *plan.Plan) { p.Server.Image = "ollama/ollama@" + digest })
	add("ollama process, address said by the plan", "ollama", "process", func(p *plan.Plan) {
		p.Server.Port, p.Server.Env = 11434, map[string]string{"OLLAMA_HOST": "127.0.0.1:11434"}
	})
	add("several endpoints", "vllm", "endpoint", func(p *plan.Plan) {
		p.Server.URLs = []string{"http://a:8000/v1", "unix:///run/engine.sock", "https://b"}
	})
	add("sim process", "sim", "process", func(p *plan.Plan) { p.Server.Args = []string{"--ttft", "20ms"} })
	add("openai process", "openai", "process", func(p *plan.Plan) { p.Server.Command, p.Server.Port = []string{"./serve.sh"}, 30000 })
	add("openai endpoint", "openai", "endpoint", func(p *plan.Plan) { p.Server.URL = "https://host:8443/prefix/v1/chat/completions" })
	return cases
}

func TestServerSpec(t *testing.T) {
	got := map[string]Spec{}
	for name, p := range specCases() {
		preset, err := PresetNamed(p.Server.Engine)
		if err != nil {
			t.Fatal(err)
		}
		s, err := serverSpec(p, preset, specOptions, 30000)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		again, err := serverSpec(p, preset, specOptions, 30000)
		if err != nil || !cmp.Equal(s, again) {
			t.Errorf("%s: two calls differ: %v", name, err)
		}
		got[name] = s
	}
	enginetest.GoldenJSON(t, "server_specs.json", got)
}

// TestUlimitsOfThePlan: what the plan asks for is asked of the engine; of what its kind of server would like only the rest is left.
func TestUlimitsOfThePlan(t *testing.T) {
	preset := Preset{Ulimits: map[string]string{"memlock": "unlimited", "nofile": "1048576"}}
	for _, c := range []struct{ asked, wishes map[string]string }{
		{nil, map[string]string{"memlock": "unlimited", "nofile": "1048576"}},
		{map[string]string{"nofile": "4096", "core": "0"}, map[string]string{"memlock": "unlimited"}},
		{map[string]string{"nofile": "4096", "memlock": "8m"}, nil},
	} {
		r := rightsOf(plan.Server{Ulimits: c.asked}, preset)
		if d := cmp.Diff(c.asked, r.Ulimits) + cmp.Diff(c.wishes, r.Wishes); d != "" {
			t.Errorf("%v:\n%s", c.asked, d)
		}
	}
	if len(preset.Ulimits) != 2 {
		t.Errorf("the preset is changed: %v", preset.Ulimits)
	}
}

func TestServerSpecPicksAPort(t *testing.T) {
	s, preset, err := oneSpec(testPlan("vllm", "process"), specOptions)
	if err != nil {
		t.Fatal(err)
	}
	if s.HostPort == 0 || s.Port != s.HostPort || preset.Name != "vllm" {
		t.Errorf("port %d, host port %d, preset %s", s.Port, s.HostPort, preset.Name)
	}
	if err := port.Check("server", s.HostPort); err != nil {
		t.Errorf("the picked port is not free: %v", err)
	}
}

func TestServerSpecFaults(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*plan.Plan)
		code   string
	}{
		{"unknown engine", func(p *plan.Plan) { p.Server.Engine = "triton" }, "plan.engine_unknown"},
		{"unknown runtime", func(p *plan.Plan) { p.Server.Runtime = "podman" }, "plan.runtime_unknown"},
		{"no command", func(p *plan.Plan) { p.Server.Engine = "openai" }, "plan.command_missing"},
		{"no port", func(p *plan.Plan) { p.Server.Engine, p.Server.Command = "openai", []string{"./serve.sh"} }, "plan.port_missing"},
		{"no address", func(p *plan.Plan) { p.Server.Runtime, p.Server.URL = "endpoint", "localhost:8000" }, "plan.url_invalid"},
		{"two ports", func(p *plan.Plan) { p.Server.Port, p.Server.Args = 8000, []string{"--port", "9000"} }, "plan.port_conflict"},
		{"no number", func(p *plan.Plan) { p.Server.Args = []string{"--port", "http"} }, "plan.port_invalid"},
		{"no number in docker", func(p *plan.Plan) { p.Server.Runtime, p.Server.Args = "docker", []string{"--port=x"} }, "plan.port_invalid"},
		{"loopback of a container", func(p *plan.Plan) { p.Server.Runtime, p.Server.Args = "docker", []string{"--host", "127.0.0.1"} }, "plan.server_unreachable"},
		{"shm size", func(p *plan.Plan) { p.Server.Runtime, p.Server.ShmSize = "docker", "much" }, "plan.shm_size_invalid"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := testPlan("vllm", "process")
			c.change(&p)
			_, _, err := oneSpec(p, specOptions)
			enginetest.WantFault(t, err, c.code)
		})
	}
}

func TestModelMount(t *testing.T) {
	for host, want := range map[string][3]string{
		"/m/tiny":                  {"/m/tiny", "/model", "/model"},
		"/m/tiny/":                 {"/m/tiny", "/model", "/model"},
		"/m/t.gguf":                {"/m/t.gguf", "/model/t.gguf", "/model/t.gguf"},
		"/m/t-00001-of-00002.gguf": {"/m", "/model", "/model/t-00001-of-00002.gguf"},
		"/hub/models--lab--tiny/snapshots/1bae0e1": {"/hub/models--lab--tiny", "/model", "/model/snapshots/1bae0e1"},
	} {
		m, model := modelMount(host)
		if got := [3]string{m.Source, m.Target, model}; got != want || m.Writable {
			t.Errorf("%s: %v, want %v", host, got, want)
		}
	}
}

// Every list that a plan chooses from is complete: a new member needs no other change than its own.
func TestListsAreComplete(t *testing.T) {
	keys := map[string]bool{"running": true, "waiting": true, "kv_usage": true, "prompt_tokens": true, "generation_tokens": true, "prefix_queries": true, "prefix_hits": true, "preemptions": true}
	for _, p := range Presets() {
		if got, err := PresetNamed(p.Name); err != nil || got.Name != p.Name {
			t.Errorf("preset %q is not found by its name: %v", p.Name, err)
		}
		if p.Program == nil || p.Describe == nil || p.ModelsPath == "" {
			t.Errorf("preset %s lacks a part", p.Name)
		}
		for name := range p.Metrics {
			if !keys[name] {
				t.Errorf("preset %s has a metric %q that nobody knows", p.Name, name)
			}
		}
	}
	for _, r := range Runtimes(DockerPlace{}) {
		if got, err := RuntimeNamed(r.Name(), DockerPlace{}); err != nil || got.Name() != r.Name() {
			t.Errorf("runtime %q is not found by its name: %v", r.Name(), err)
		}
	}
	_, err := RuntimeNamed("vm", DockerPlace{})
	enginetest.WantFault(t, err, "plan.runtime_unknown")
}
