package engine

import (
	"bytes"
	"strings"
	"testing"

	"assay/containers/enginetest"
)

func TestClassify(t *testing.T) {
	for line, want := range map[string]string{
		"torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB":                                       "gpu_oom",
		"ValueError: Free memory on device (10/191 GiB) on startup is less than desired GPU memory utilization (0.9)": "gpu_oom",
		"ValueError: No available memory for the cache blocks. Try increasing gpu_memory_utilization":                 "kv_too_small",
		"RuntimeError: HIP error: invalid device function":                                                            "wrong_arch",
		"RuntimeError: CUDA error: no kernel image is available for execution on the device":                          "wrong_arch",
		"RuntimeError: CUDA error: an illegal memory access was encountered":                                          "illegal_access",
		"RuntimeError: HIP error: unspecified launch failure":                                                         "gpu_error",
		"RuntimeError: No HIP GPUs are available":                                                                     "no_gpu",
		"api_server.py: error: unrecognized arguments: --enable-foo":                                                  "bad_argument",
		"error: argument --tokenizer-mode: invalid choice: 'deepseek_v41'":                                            "bad_argument",
		"OSError: [Errno 98] Address already in use":                                                                  "port_in_use",
		"huggingface_hub.errors.RepositoryNotFoundError: 404 Client Error":                                            "model_missing",
		"huggingface_hub.errors.GatedRepoError: 401 Client Error":                                                     "model_auth",
		"safetensors_rust.SafetensorError: Error while deserializing header: MetadataIncompleteBuffer":                "corrupt_weights",
		"OSError: [Errno 28] No space left on device":                                                                 "disk_full",
		"torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp":                                     "collective",
		"Error: No such option: --tp":                                                                                 "bad_argument",
		"error: unexpected argument '--max-len' found":                                                                "bad_argument",
		"Not enough memory to handle 4096 prefill tokens. You need to decrease `--max-batch-prefill-tokens`":          "gpu_oom",
		"RuntimeError: Executor worker returned error":                                                                "engine_dead",
		"Error: ShardCannotStart":                                                                                     "engine_dead",
		"Error: listen tcp 127.0.0.1:11434: bind: address already in use":                                             "port_in_use",
		"llama_model_load: error loading model: unknown model architecture: 'x'":                                      "unsupported_model",
		"vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue":                                  "engine_dead",
	} {
		s, got, ok := Classify(strings.NewReader("INFO starting\n" + line + "\nINFO more\n"))
		if !ok || s.Code != want || got != line || s.Hint == "" {
			t.Errorf("%q: %s %v", line, s.Code, ok)
		}
	}
	if s, _, ok := Classify(strings.NewReader("INFO fine\nINFO all well")); ok {
		t.Errorf("a clean log is %s", s.Code)
	}
}

// The cause stands before the error that wraps it, wherever in the log it is.
func TestClassifyFindsTheCause(t *testing.T) {
	const log = "(Worker) torch.OutOfMemoryError: CUDA out of memory.\nRuntimeError: Engine core initialization failed. See root cause above.\n"
	if s, line, _ := Classify(strings.NewReader(log)); s.Code != "gpu_oom" || !strings.HasPrefix(line, "(Worker)") {
		t.Errorf("%s: %s", s.Code, line)
	}
}

func TestClassifyRealLogs(t *testing.T) {
	for file, want := range map[string]string{
		"llama-portinuse.log":           "port_in_use",
		"llama-badmodel.log":            "model_missing",
		"llama-truncgguf.log":           "corrupt_weights",
		"vllm-docker-shm-error.txt":     "shm_too_small",
		"vllm-enginecore-crash-log.txt": "wrong_arch",
	} {
		s, line, ok := Classify(bytes.NewReader(enginetest.Capture(t, file)))
		if !ok || s.Code != want {
			t.Errorf("%s: %q, want %s: %s", file, s.Code, want, line)
		}
	}
	for _, file := range []string{"vllm-startup-log.txt", "llama-server-log-sample.txt"} {
		if s, line, ok := Classify(bytes.NewReader(enginetest.Capture(t, file))); ok {
			t.Errorf("the log %s of a good start is %s: %s", file, s.Code, line)
		}
	}
}

func FuzzClassify(f *testing.F) {
	f.Add([]byte("a\nCUDA out of memory"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, line, ok := Classify(bytes.NewReader(b)); ok && strings.Contains(line, "\n") {
			t.Error("more than one line")
		}
	})
}
