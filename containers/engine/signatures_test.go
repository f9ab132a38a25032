package engine

import (
	"bytes"
	"strings"
	"testing"

	"assay/containers/enginetest"
)

func TestClassify(t *testing.T) {
	for line, want := range map[string]string{
		"torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB":                                                         "gpu_oom",
		"ValueError: Free memory on device (10/191 GiB) on startup is less than desired GPU memory utilization (0.9)":                   "gpu_oom",
		"ValueError: No available memory for the cache blocks. Try increasing gpu_memory_utilization":                                   "kv_too_small",
		"RuntimeError: HIP error: invalid device function":                                                                              "wrong_arch",
		"RuntimeError: CUDA error: no kernel image is available for execution on the device":                                            "wrong_arch",
		"RuntimeError: CUDA error: an illegal memory access was encountered":                                                            "illegal_access",
		"RuntimeError: HIP error: unspecified launch failure":                                                                           "gpu_error",
		"Unable to open /dev/kfd read-write: Permission denied":                                                                         "device_permission",
		"pynvml.NVMLError_DriverNotLoaded: Driver Not Loaded":                                                                           "no_gpu",
		"Failed to initialize NVML: Unknown Error":                                                                                      "no_gpu",
		"httpx.HTTPStatusError: Client error '403 Forbidden' for url 'https://huggingface.co/api/models/m'":                             "model_auth",
		"ValueError: No supported config format found in /model.":                                                                       "model_missing",
		"RuntimeError: No HIP GPUs are available":                                                                                       "no_gpu",
		"api_server.py: error: unrecognized arguments: --enable-foo":                                                                    "bad_argument",
		"error: argument --tokenizer-mode: invalid choice: 'deepseek_v41'":                                                              "bad_argument",
		"OSError: [Errno 98] Address already in use":                                                                                    "port_in_use",
		"huggingface_hub.errors.RepositoryNotFoundError: 404 Client Error":                                                              "model_missing",
		"huggingface_hub.errors.GatedRepoError: 401 Client Error":                                                                       "model_auth",
		"safetensors_rust.SafetensorError: Error while deserializing header: MetadataIncompleteBuffer":                                  "corrupt_weights",
		"OSError: [Errno 28] No space left on device":                                                                                   "disk_full",
		"torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp":                                                       "collective",
		"Error: No such option: --tp":                                                                                                   "bad_argument",
		"error: unexpected argument '--max-len' found":                                                                                  "bad_argument",
		"Not enough memory to handle 4096 prefill tokens. You need to decrease `--max-batch-prefill-tokens`":                            "gpu_oom",
		"RuntimeError: Executor worker returned error":                                                                                  "engine_dead",
		"Error: ShardCannotStart":                                                                                                       "engine_dead",
		"Error: listen tcp 127.0.0.1:11434: bind: address already in use":                                                               "port_in_use",
		"llama_model_load: error loading model: unknown model architecture: 'x'":                                                        "unsupported_model",
		"vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue":                                                    "engine_dead",
		"AssertionError: Only SM90 and above are supported":                                                                             "wrong_arch",
		"AssertionError: Only sm_100 and sm_103 are supported":                                                                          "wrong_arch",
		"RuntimeError: flash_mla: this kernel is only supported on SM90":                                                                "wrong_arch",
		"ValueError: The quantization method fp8 is not supported for the current GPU. Minimum capability: 89. Current capability: 80.": "wrong_arch",
		"ValueError: Bfloat16 is only supported on GPUs with compute capability of at least 8.0.":                                       "wrong_arch",
		"RuntimeError: No supported CUDA architectures found for major versions [9].":                                                   "wrong_arch",
		"ImportError: libcuda.so.1: cannot open shared object file: No such file or directory":                                          "no_gpu",
		"[FATAL tini (7)] exec vllmm failed: No such file or directory":                                                                 "cannot_run",
		"[FATAL tini (7)] exec /app/llama-server failed: Exec format error":                                                             "cannot_run",
		"ERROR (catatonit:2): failed to exec pid1: No such file or directory":                                                           "cannot_run",
		"llama-server: error while loading shared libraries: libgomp.so.1: cannot open":                                                 "cannot_run",
		"python: error while loading shared libraries: libcuda.so.1: cannot open shared object file":                                    "no_gpu",
		"MemoryError":                                     "host_oom",
		"(EngineCore pid=7) MemoryError":                  "host_oom",
		"torch.cuda.OutOfMemoryError: CUDA out of memory": "gpu_oom",
		"numpy._core._exceptions._ArrayMemoryError: Unable to allocate 9.5 GiB for an array": "host_oom",
		"panic: runtime error: index out of range [3] with length 3":                         "panic",
		"time=2025-11-30 panic: assignment to entry in nil map":                              "panic",
		"fatal error: all goroutines are asleep - deadlock!":                                 "panic",
		"fatal error: concurrent map writes":                                                 "panic",
		"thread 'main' panicked at src/main.rs:12:5:":                                        "panic",
		"thread 'tokio-runtime-worker' (812) panicked at router/src/lib.rs:1:2:":             "panic",
		"thread 'main' panicked at 'failed to bind: Address already in use', src/main.rs:3":  "port_in_use",
		"panic: listen tcp 127.0.0.1:8000: bind: address already in use":                     "port_in_use",
		"runtime: out of memory: cannot allocate 4194304-byte block (67108864 in use)":       "host_oom",
		"RCCL ERROR: communicator was aborted":                                               "collective",
		"RCCL failure common.cu:1: 'invalid usage'":                                          "collective",
		"unhandled cuda error (run with NCCL_DEBUG=INFO for details)":                        "collective",
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

// A line that says that something failed counts only where none says why, wherever it stands; of causes the first counts.
func TestClassifyTakesTheFirstCause(t *testing.T) {
	for _, c := range []struct{ name, log, code, line string }{
		{"the wrapper comes first", "(EngineCore pid=1) ERROR core.py EngineCore failed to start.\n(EngineCore pid=1) ERROR Traceback\ntorch.OutOfMemoryError: CUDA out of memory.", "gpu_oom", "torch.OutOf"},
		{"a wrapper alone", "INFO up\nRuntimeError: Engine core initialization failed. See root cause above.", "engine_dead", "RuntimeError"},
		{"another rank's failure follows", "torch.OutOfMemoryError: HIP out of memory.\nRuntimeError: NCCL error: remote process exited\nOSError: [Errno 28] No space left on device", "gpu_oom", "torch"},
		{"a later one of higher rank", "RuntimeError: NCCL error: unhandled system error\ntorch.OutOfMemoryError: HIP out of memory.", "collective", "RuntimeError: NCCL"},
		{"its own arguments", "(APIServer pid=1) INFO 11-30 21:51:11 [api_utils.py:286] non-default args: {'x': 'trust_remote_code=True'}\nServerArgs(trust_remote_code=True, port=1)\nvllm.EngineDeadError: dead", "engine_dead", "vllm"},
		{"a port is tried again", "WARNING Address already in use, trying port 8001\nOSError: address already in use, retrying in 1s\nRuntimeError: HIP error: illegal memory access was encountered", "illegal_access", "RuntimeError"},
		{"told for information", "node1:12 [0] NCCL INFO Call to connect failed: unhandled system error\nRuntimeError: NCCL error in: ProcessGroupNCCL.cpp", "collective", "RuntimeError"},
		{"a warning and a cause", "UserWarning: CUDA initialization: Found no NVIDIA driver on your system.\nserver.py: error: unrecognized arguments: --x", "bad_argument", "server.py"},
		{"a warning alone", "UserWarning: CUDA initialization: Found no NVIDIA driver on your system.", "no_gpu", "UserWarning"},
		{"shared memory, by its library", "host:1 [0] misc/shmutils.cc:72 NCCL WARN Call to posix_fallocate failed : No space left on device\nhost:1 [0] NCCL WARN Error while creating shared memory segment /dev/shm/nccl-a (size 9637888)", "shm_too_small", "host:1 [0] misc"},
		{"before it was up", "E couldn't: [Errno 98] Address already in use\nINFO:     Application startup complete.\nMemory access fault by GPU node-1", "illegal_access", "Memory"},
		{"llama.cpp's levels", "0.00.001.000 I srv x: CUDA error is told\n0.00.001.100 W srv x: CUDA error may come\n0.00.001.200 E srv couldn't bind HTTP server socket, port: 1", "port_in_use", "0.00.001.200"},
		{"a source line of a traceback", "  File \"/x/CUDA error/y.py\", line 3, in f\nException: EngineDeadError", "engine_dead", "Exception"},
		{"the kernel killed it", "x\noom-kill:constraint=CONSTRAINT_MEMCG,task=python3\n", "host_oom", "oom-kill"},
		{"the first of a panic's lines", "up\npanic: assignment to entry in nil map\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:9 +0x1d\nexit status 2", "panic", "panic: assignment"},
		{"Go says why before it gives up", "fatal error: runtime: out of memory\nruntime: out of memory: cannot allocate 4194304-byte block\n", "host_oom", "runtime: out"},
		{"a panic after its cause", "thread 'main' panicked at src/main.rs:1:2:\ncalled on an Err: No space left on device\n", "disk_full", "called"},
		{"an old driver", "nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.9", "driver_too_old", "nvidia"},
		{"no right to the GPU", "rocBLAS error: Could not initialize Tensile host: No devices found", "device_permission", "rocBLAS"},
	} {
		s, line, ok := Classify(strings.NewReader(c.log))
		if !ok || s.Code != c.code || !strings.HasPrefix(line, c.line) {
			t.Errorf("%s: %s, %q", c.name, s.Code, line)
		}
	}
	for _, log := range []string{"INFO CUDA error: none", "OSError: [Errno 98] Address already in use, retrying", "Namespace(trust_remote_code=True)",
		"RCCL version : 2.26.6-HEAD:1234567", `node1:12 [0] NCCL WARN Missing "iommu=pt" from kernel command line which can lead to system instablity or hang!`,
		"cupy.cuda.memory.OutOfMemoryError is caught", "INFO Only SM90 has this kernel: another is taken",
		"x.c:1:10: fatal error: Python.h: no such file"} {
		if s, line, ok := Classify(strings.NewReader(log)); ok {
			t.Errorf("%s: %s", s.Code, line)
		}
	}
}

// Every code is a word that scripts can use, and tells what to do.
func TestSignatures(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Signatures() {
		if seen[s.Code] || s.Code == "" || strings.ContainsAny(s.Code, " .-") || s.Hint == "" || len(s.Any) == 0 {
			t.Errorf("%+v", s)
		}
		seen[s.Code] = true
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
