package imported

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"assay/fault"
)

// fuzz reads changed bytes as a file of a tool: they are read, or refused with a hint what to do.
func fuzz(f *testing.F, format, name string, seeds ...string) {
	for _, seed := range seeds {
		b, err := os.ReadFile(testdata(seed))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := tryToBring(t, path, format)
		if err == nil {
			if _, _, err := got.found.Document(nil); err != nil {
				t.Errorf("what was read cannot be written down: %v", err)
			}
			return
		}
		var told *fault.Fault
		if !errors.As(err, &told) || told.Hint == "" {
			t.Errorf("no hint: %v", err)
		}
	})
}

func FuzzVLLM(f *testing.F)    { fuzz(f, "vllm", "x.json", "vllm.json") }
func FuzzVLLMLog(f *testing.F) { fuzz(f, "vllm-log", "x.txt", "vllm-log.txt") }
func FuzzAIPerf(f *testing.F) {
	fuzz(f, "aiperf", "x.jsonl", "aiperf/profile_export.jsonl", "aiperf/profile_export_aiperf.json")
}
func FuzzGuideLLM(f *testing.F) { fuzz(f, "guidellm", "x.json", "guidellm.json") }
func FuzzInferencePerf(f *testing.F) {
	fuzz(f, "inference-perf", "x.json", "inference-perf/per_request_lifecycle_metrics.json", "inference-perf/stage_0_lifecycle_metrics.json")
}
func FuzzInferenceBench(f *testing.F) {
	fuzz(f, "llm-inference-bench", "x.json", "llm-inference-bench.json")
}
func FuzzMLPerf(f *testing.F) {
	fuzz(f, "mlperf", "x.jsonl", "mlperf/warm/events.jsonl", "mlperf/dead/performance/result_summary.json", "mlperf/killed/config.yaml")
}
