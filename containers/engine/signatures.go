package engine

import (
	"bufio"
	"io"
	"strings"
)

// Signature is a known way to fail: what a log says, and what to do.
type Signature struct {
	Code string // gpu_oom, bad_argument, …
	Any  []string
	Hint string
}

// Signatures are tried in this order, causes before the errors that wrap them.
func Signatures() []Signature {
	return []Signature{
		{"kv_too_small", []string{"No available memory for the cache blocks", "larger than the maximum number of tokens that can be stored in KV cache"},
			"lower --max-model-len or leave more GPU memory to the KV cache"},
		{"gpu_oom", []string{"torch.OutOfMemoryError", "OutOfMemoryError: CUDA", "OutOfMemoryError: HIP", "CUDA out of memory", "HIP out of memory",
			"HSA_STATUS_ERROR_OUT_OF_RESOURCES", "Not enough memory to handle", "is less than desired GPU memory utilization", "cudaMalloc failed: out of memory"},
			"see whether another process still holds GPU memory; then lower the memory utilisation or the context"},
		{"shm_too_small", []string{"Insufficient space in /dev/shm", "Error while creating shared memory segment", "/dev/shm/nccl-"},
			"set server.shm_size, for example 16g"},
		{"disk_full", []string{"No space left on device"}, "free space on the disk of the engine or of its caches"},
		{"wrong_arch", []string{"no kernel image is available for execution on the device", "invalid device function", "Unsupported gfx", "unsupported CPU attention configuration",
			"Unsupported CPU attention configuration"}, "this image or build does not support this accelerator: take one built for it"},
		{"no_gpu", []string{"No HIP GPUs are available", "No CUDA GPUs are available", "Found no NVIDIA driver", "Unable to open /dev/kfd", "no ROCm-capable device is detected",
			"Failed to infer device type"}, "check the driver, server.gpus, and the groups of /dev/kfd and /dev/dri/renderD*"},
		{"port_in_use", []string{"ddress already in use", "couldn't bind HTTP server socket"}, "stop the program that holds the port, or leave server.port out"},
		{"bad_argument", []string{"unrecognized arguments", "invalid choice:", "error: invalid argument:", "the following arguments are required", "unexpected keyword argument",
			"No such option", "error: unexpected argument", "error: invalid value"},
			"correct server.args: this version of the server does not know the argument named in the line"},
		{"model_auth", []string{"GatedRepoError", "401 Client Error", "403 Client Error", "Cannot access gated repo"}, "accept the model's licence and give the server a token, or mount the model"},
		{"model_missing", []string{"RepositoryNotFoundError", "RevisionNotFoundError", "LocalEntryNotFoundError", "OfflineModeIsEnabled", "is not a local folder and is not a valid model identifier",
			"failed to open GGUF file", "does not appear to have a file named", "Repo id must be"}, "check model.path: the files the server looks for are not there"},
		{"corrupt_weights", []string{"Error while deserializing header", "incomplete metadata, file not fully covered", "SafetensorError", "invalid magic characters", "data is not within the file bounds"},
			"the weights are damaged or incomplete: compare their SHA-256 with the source"},
		{"trust_remote_code", []string{"trust_remote_code=True", "requires you to execute the"}, "the model brings its own code: read it, then add --trust-remote-code"},
		{"unsupported_model", []string{"unknown model architecture", "are not supported for now", "does not recognize this architecture"}, "this version of the server does not know the model: take a newer one"},
		{"illegal_access", []string{"illegal memory access", "Memory access fault by GPU node", "HSA_STATUS_ERROR_EXCEPTION"}, "suspect the GPU or its driver: look at dmesg for resets and ECC errors"},
		{"gpu_error", []string{"CUDA error", "HIP error", "hipError", "cudaError"}, "look at the lines around it, and at dmesg"},
		{"collective", []string{"NCCL error", "RCCL error", "unhandled system error", "ncclSystemError"}, "set NCCL_DEBUG=INFO; check shared memory size and the links between GPUs"},
		{"model_load", []string{"failed to load model", "error loading model"}, "look at the lines before it in the log"},
		{"illegal_instruction", []string{"Illegal instruction"}, "the build needs CPU features that this machine lacks"},
		{"engine_dead", []string{"EngineDeadError", "EngineCore encountered a fatal error", "EngineCore failed to start", "Engine core initialization failed", "Watchdog timeout",
			"Executor worker returned error", "ShardCannotStart", "Shard process was signaled"},
			"look at the first traceback in the log: it names the cause"},
	}
}

// Classify finds the first line of a log that a signature knows, by the order of Signatures.
func Classify(log io.Reader) (s Signature, line string, ok bool) {
	known := Signatures()
	best := len(known)
	lines := bufio.NewReader(log)
	for {
		text, err := lines.ReadString('\n')
		for i, k := range known[:best] {
			if ContainsAny(text, k.Any) {
				best, line = i, FirstLine(text)
				break
			}
		}
		if err != nil {
			break
		}
	}
	if best == len(known) {
		return Signature{}, "", false
	}
	return known[best], line, true
}

// ContainsAny tells whether one of the texts is in s.
func ContainsAny(s string, subs []string) bool {
	for _, sub := range subs {
		if strings.Contains(s, sub) {
			return true
		}
	}
	return false
}
