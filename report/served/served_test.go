package served

import (
	"encoding/json"
	"testing"

	"assay/probes"
	"assay/report/machine"
	"assay/result"
	"assay/runner/metrics"
)

func texts(c machine.Chapter) map[string]string {
	out := map[string]string{}
	for _, l := range c.Lines {
		out[l.Label] = l.Text()
	}
	return out
}

func machineWith(vendor string) *probes.SUT {
	s := &probes.SUT{}
	if vendor != "" {
		s.Accelerators.Items = []probes.Accelerator{{Vendor: probes.Known(vendor, "PCI")}}
	}
	return s
}

// withOwnGPU puts a processor's own GPU before a machine's card.
func withOwnGPU(s *probes.SUT) *probes.SUT {
	s.Accelerators.Items[0].Kind = probes.Known("discrete", "PCI")
	own := probes.Accelerator{Vendor: probes.Known("AMD", "PCI"), Kind: probes.Known("integrated", "PCI")}
	s.Accelerators.Items = append([]probes.Accelerator{own}, s.Accelerators.Items...)
	return s
}

// TestEngine: what is known stands there, and what is not says why.
func TestEngine(t *testing.T) {
	const digest = "ghcr.io/lab/vllm@sha256:ebdd9351069705b01e49d3fe080a427729c5680c5fd87d13c7fef163d041838a"
	unknown := probes.SUT{}
	unknown.Accelerators.Unknown = "sysfs cannot be read"
	cases := []struct {
		name, engine, server string
		sut                  *probes.SUT
		want                 map[string]string
	}{
		{"a pinned image", "vllm", `{"runtime":"docker","image":"` + digest + `","version":"0.32.0+g889b538fc509","argv":["vllm","serve","m","--quantization=mxfp4","--dtype","bfloat16"]}`, machineWith("NVIDIA"),
			map[string]string{"Engine": "vllm", "Version": "0.32.0+g889b538fc509", "Quantization": "mxfp4", "Backend": "cuda", "Build": digest, "Commit": "889b538fc509", "Model precision": "mxfp4, bfloat16"}},
		{"by a tag", "vllm", `{"runtime":"docker","image":"vllm/vllm-openai-rocm:nightly-5555a2d8f7116b2b4877f66516f4128176cf722a","image_id":"sha256:90aa","argv":["vllm","serve","--dtype","auto"]}`, machineWith("AMD"),
			map[string]string{"Version": "— not probed: no server told its version", "Backend": "rocm", "Build": "sha256:90aa", "Commit": "5555a2d8f7116b2b4877f66516f4128176cf722a",
				"Quantization":    "— not probed: the command line has no --quantization, and the server does not tell what it took from the model's files",
				"Model precision": "— not probed: the command line has no --dtype or --quantization, and the server does not tell what it took from the model's files"}},
		{"it tells itself", "sglang", `{"runtime":"endpoint","version":"0.5.2","quantization":"fp8","dtype":"bfloat16"}`, machineWith("AMD"),
			map[string]string{"Quantization": "fp8", "Model precision": "fp8, bfloat16", "Backend": "— not probed: the server was not started by this run, and does not tell what it computes on",
				"Build": "— not probed: the server was not started by this run, or nothing was hashed", "Commit": "— not probed: neither the build, the version nor the image's tag holds one"}},
		{"a program", "llamacpp", `{"runtime":"process","version":"b6123-0a1b2c3d","binary_sha256":"00ff","argv":["llama-server"]}`, machineWith(""),
			map[string]string{"Backend": "cpu", "Build": "sha256:00ff", "Commit": "0a1b2c3d"}},
		{"one of several backends", "llamacpp", `{"runtime":"process","version":"b6123-unknown"}`, machineWith("NVIDIA"),
			map[string]string{"Backend": "— not probed: the server does not tell which of its backends it computes with", "Commit": "— not probed: neither the build, the version nor the image's tag holds one"}},
		{"told on the command line", "vllm", `{"runtime":"process","version":"0.11.0-20251212","argv":["vllm","serve","--device","cpu"]}`, machineWith("NVIDIA"),
			map[string]string{"Backend": "cpu", "Commit": "— not probed: neither the build, the version nor the image's tag holds one"}},
		{"accelerators not known", "vllm", `{"runtime":"process"}`, &unknown, map[string]string{"Backend": "— not probed: accelerators unknown: sysfs cannot be read"}},
		{"a processor's own GPU", "vllm", `{"runtime":"process"}`, withOwnGPU(machineWith("NVIDIA")), map[string]string{"Backend": "cuda"}},
		{"no machine", "vllm", `{"runtime":"process"}`, nil, map[string]string{"Backend": "— not probed: the machine was not probed"}},
		{"simulated", "sim", `{"runtime":"process"}`, machineWith("AMD"), map[string]string{"Backend": "— not probed: the simulated engine computes nothing"}},
	}
	for _, c := range cases {
		var s Server
		if err := json.Unmarshal([]byte(c.server), &s); err != nil {
			t.Fatal(err)
		}
		got := texts(Engine(c.engine, s, c.sut))
		for label, text := range texts(Model("m", s, result.Result{})) {
			got[label] = text
		}
		for label, want := range c.want {
			if got[label] != want {
				t.Errorf("%s: %s = %q, want %q", c.name, label, got[label], want)
			}
		}
	}
}

// TestModel: a link is given only of a model that is pinned to a revision of the hub, and the mean prompt only where all points ask alike.
func TestModel(t *testing.T) {
	tokens, context := int64(300), 1024
	counted := result.Point{Metrics: &metrics.Summary{InputTokens: &tokens, RequestsCompleted: 3}}
	untold := result.Point{Metrics: &metrics.Summary{RequestsCompleted: 5}}
	cell := counted
	cell.Context = &context
	cases := []struct {
		model         result.ModelIdentity
		points        []result.Point
		link, average string
	}{
		{result.ModelIdentity{Name: "lab/m-7b", Revision: "1bae0e10"}, []result.Point{counted, untold}, "https://huggingface.co/lab/m-7b/tree/1bae0e10", "100.00"},
		{result.ModelIdentity{Name: "lab/m-7b"}, []result.Point{untold}, "— not probed: the model has no hub name with a revision", "— not probed: the server told of no prompt how many tokens it has"},
		{result.ModelIdentity{Name: "lab/m-7b", Revision: "1bae0e10", Path: "/models/m"}, []result.Point{cell}, "— not probed: the model has no hub name with a revision", "— not probed: each context of a matrix has its own; see the points"},
	}
	for _, c := range cases {
		got := texts(Model(c.model.Name, Server{}, result.Result{Identity: result.Identity{Model: c.model}, Points: c.points}))
		if got["Model link"] != c.link || got["Average input tokens"] != c.average || got["Dataset type"] != "performance" {
			t.Errorf("%+v: %q", c.model, got)
		}
	}
}

// TestWithin: what the server stands on beside what the host has, and its own build's commit before the version's.
func TestWithin(t *testing.T) {
	s := Server{Version: "0.11.0", Inside: &Inside{Where: "container x", Parts: []Part{
		{Name: "os", Version: "Ubuntu 22.04.5 LTS"}, {Name: "rocm", Version: "7.0.0-38"}, {Name: "pytorch", Version: "2.9.0+rocm7.0", Commit: "1c57644d0f7a1cb4b5c8e7e1a9f0d3a3b1f5c1aa"}, {Name: "aiter", Version: "0.1.6+g4f02b5b8d", Commit: "4f02b5b8d"},
		{Name: "cuda", Version: "12.8.90", Other: "12.9.1 (/usr/local/cuda/version.json)"}, {Name: "vllm", Version: "0.11.0", Commit: "38f225c2a"},
	}, Unread: []string{"/var/lib/dpkg/status: is a folder"}}}
	sut := machineWith("AMD")
	sut.Software.ROCm, sut.Software.CUDA = probes.Known("6.3.2-66", "x"), probes.NA[string]("no NVIDIA accelerator")
	lines := Within(s, sut)
	got := texts(machine.Chapter{Lines: lines})
	for label, want := range map[string]string{
		"Software inside":        "Ubuntu 22.04.5 LTS, ROCm 7.0.0-38, PyTorch 2.9.0+rocm7.0 (1c57644d0f7a), AITER 0.1.6+g4f02b5b8d, CUDA 12.8.90 [also 12.9.1 (/usr/local/cuda/version.json)], vLLM 0.11.0 (38f225c2a)",
		"Inside and on the host": "ROCm 7.0.0-38 inside, 6.3.2-66 on the host; CUDA 12.8.90 inside, none on the host",
	} {
		if got[label] != want {
			t.Errorf("%s = %q", label, got[label])
		}
	}
	if len(lines[0].Missing) != 1 {
		t.Errorf("%+v", lines[0])
	}
	if commit, source := s.commit(); commit != "38f225c2a" || source != "the build that is installed" {
		t.Errorf("%s %s", commit, source)
	}
	for _, l := range Within(Server{}, nil) {
		if l.NotProbed == "" {
			t.Errorf("%+v", l)
		}
	}
}
