package engine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/containers/enginetest"
)

// partsOf is what a log tells of a start: each part once, with the most seconds that a line gives it.
func partsOf(p Preset, log string) (names []string, seconds map[string]float64) {
	seconds = map[string]float64{}
	for _, line := range Lines(log) {
		phase, s := p.Loads(line)
		if phase == "" {
			continue
		}
		if _, seen := seconds[phase]; !seen {
			names = append(names, phase)
		}
		seconds[phase] = max(seconds[phase], s)
	}
	return names, seconds
}

func TestLoads(t *testing.T) {
	for _, c := range []struct {
		engine, log string
		names       []string
		seconds     map[string]float64
	}{
		{"vllm", `INFO Starting to load model m...
Loading safetensors checkpoint shards: 100% Completed | 3/3
INFO Loading weights took 31.25 seconds
INFO Model loading took 14.2 GiB memory and 33.5 seconds
INFO Dynamo bytecode transform time: 7.30 s
INFO Compiling a graph for general shape takes 27.31 s
INFO torch.compile takes 34.61 s in total
INFO Available KV cache memory: 26.54 GiB
INFO GPU KV cache size: 217,376 tokens
Capturing CUDA graphs (decode, FULL): 100%|
INFO Graph capturing finished in 22 secs, took 0.31 GiB
INFO init engine (profile, create kv cache, warmup model) took 70.62 s (compilation: 42.18 s)
INFO:     Application startup complete.`,
			[]string{LoadWeights, LoadCompile, LoadMemory, LoadGraphs, LoadWarmup, LoadUp},
			map[string]float64{LoadWeights: 33.5, LoadCompile: 34.61, LoadMemory: 0, LoadGraphs: 22, LoadWarmup: 70.62, LoadUp: 0}},
		{"sglang", `[2026-05-15 08:39:36 TP0] Load weight begin. avail mem=93.61 GB
[2026-05-15 08:40:01 TP0] Load weight end. elapsed=19.55 s, type=X, avail mem=88.21 GB, mem usage=22.47 GB.
[2026-05-15 08:40:01 TP1] Load weight end. elapsed=20.05 s, type=X, avail mem=88.21 GB, mem usage=22.47 GB.
[2026-05-15 08:40:02 TP0] KV Cache is allocated. #tokens: 549277, K size: 25.14 GB, V size: 25.14 GB
[2026-05-15 08:40:02 TP0] Capture cuda graph begin. This can take up to several minutes.
[2026-05-15 08:40:32 TP0] Capture cuda graph end. Time elapsed: 54.61 s. mem usage=1.93 GB. avail mem=8.16 GB.
INFO:     Application startup complete.
[2026-05-15 08:40:39] The server is fired up and ready to roll!`,
			[]string{LoadWeights, LoadMemory, LoadGraphs, LoadWarmup, LoadUp}, map[string]float64{LoadWeights: 20.05, LoadMemory: 0, LoadGraphs: 54.61, LoadWarmup: 0, LoadUp: 0}},
		{"sglang", "Capture target decode CUDA graph end. elapsed=25.74 s, mem usage=2.66 GB", []string{LoadGraphs}, map[string]float64{LoadGraphs: 25.74}},
		{"trtllm", "[TRT-LLM] [I] Use 63.32 GB for model weights.\nLoading weights: 100%|##| 801/801 [00:46<00:00, 17.29it/s]\nModel init total -- 49.14s\n" +
			"[TensorRT-LLM][INFO] [MemUsageChange] Allocated 2.25 GiB for max tokens in paged KV cache (262112).\n[Autotuner]: Autotuning process starts ...\nINFO:     Application startup complete.",
			[]string{LoadWeights, LoadMemory, LoadTune, LoadUp}, map[string]float64{LoadWeights: 49.14, LoadMemory: 0, LoadTune: 0, LoadUp: 0}},
		{"llamacpp", "0.00.002.718 I srv    load_model: loading model 'm.gguf'\n0.00.429.858 I srv    load_model: initializing, n_slots = 4\n0.00.431.494 I srv  llama_server: model loaded\n0.00.431.501 I srv  llama_server: listening on http://127.0.0.1:18999",
			[]string{LoadWeights, LoadMemory, LoadUp}, map[string]float64{LoadWeights: 0, LoadMemory: 0, LoadUp: 0}},
		{"openai", "INFO Starting to load model m...\n[TP0] Capture cuda graph end. Time elapsed: 7.23 s.", []string{LoadWeights, LoadGraphs}, map[string]float64{LoadWeights: 0, LoadGraphs: 7.23}},
		{"vllm", "(APIServer pid=1) INFO Route: /health, Methods: GET\nINFO nothing", nil, map[string]float64{}},
	} {
		p, err := PresetNamed(c.engine)
		if err != nil {
			t.Fatal(err)
		}
		names, seconds := partsOf(p, c.log)
		if d := cmp.Diff(c.names, names); d != "" {
			t.Errorf("%s: %s", c.engine, d)
		}
		if d := cmp.Diff(c.seconds, seconds); d != "" {
			t.Errorf("%s: %s", c.engine, d)
		}
	}
}

// The captured log of a real start tells its parts, and what it was started with.
func TestRealStartLog(t *testing.T) {
	log := string(enginetest.Capture(t, "vllm-startup-log.txt"))
	names, seconds := partsOf(vllm(), log)
	if d := cmp.Diff([]string{LoadWeights, LoadMemory, LoadWarmup, LoadUp}, names); d != "" {
		t.Error(d)
	}
	if seconds[LoadWarmup] != 0.86 {
		t.Errorf("%v", seconds)
	}
	var all []Setting
	for _, line := range Lines(log) {
		all = Known(all, PrintedSettings(line))
	}
	for name, want := range map[string]string{TensorParallel: "1", PipelineParallel: "1", DataParallel: "1", ContextTokens: "2048", KVDType: "auto", PrefixCaching: "True"} {
		if s, ok := Found(all, name); !ok || s.Value != want || s.Source != "log" {
			t.Errorf("%s: %+v, want %s", name, s, want)
		}
	}
	if s, ok := Found(all, Revision); ok {
		t.Errorf("revision %+v, and the log says None", s)
	}
}

func TestFirstSeconds(t *testing.T) {
	for text, want := range map[string]float64{"": 0, "no": 0, "12": 0, "12 GiB": 0, "1.5s": 1.5, "took 3 secs, took 9 s": 3, "2 sizes": 0, "in 7.": 0, "1.2.3 s": 0, "5 seconds.": 5, "4 GiB and 0.25 s": 0.25} {
		if got := firstSeconds(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func FuzzLoads(f *testing.F) {
	f.Add("Load weight end. elapsed=19.55 s")
	f.Add("server_args=ServerArgs(model_path='m', tp_size=8, revision=None)")
	f.Fuzz(func(t *testing.T, line string) {
		for _, p := range Presets() {
			if phase, seconds := p.Loads(line); seconds < 0 || phase == "" && seconds != 0 {
				t.Errorf("%s: %q takes %v s", p.Name, phase, seconds)
			}
		}
		for _, s := range PrintedSettings(line) {
			if s.Value == "" || !strings.Contains(line, s.Value) {
				t.Errorf("%+v is not in the line", s)
			}
		}
	})
}
