package engine

import (
	"bufio"
	"io"
	"strings"
)

// Signature is a known way to fail: what a log says, and what to do.
type Signature struct {
	Code    string   // gpu_oom, bad_argument, …: with the layer before it the code of the fault
	Any     []string // one that begins with a space stands at the beginning of a word
	Hint    string
	Wrapper bool // it says that something failed, and other lines why: it counts only where no other signature is found
}

// Signatures are the known ways to fail. Of those that one line fits, the first counts.
func Signatures() []Signature {
	return []Signature{
		{"kv_too_small", []string{"No available memory for the cache blocks", "larger than the maximum number of tokens that can be stored in KV cache", "Available KV cache memory: -",
			"is larger than the available KV cache memory", "Not enough memory. Please try to increase --mem-fraction-static"},
			"lower --max-model-len or leave more GPU memory to the KV cache", false},
		{"gpu_oom", []string{"torch.OutOfMemoryError", "OutOfMemoryError: CUDA", "OutOfMemoryError: HIP", "CUDA out of memory", "HIP out of memory", "CUDA error: out of memory", "HIP error: out of memory",
			"HSA_STATUS_ERROR_OUT_OF_RESOURCES", "Not enough memory to handle", "is less than desired GPU memory utilization", "cudaMalloc failed: out of memory", "hipMalloc failed: out of memory",
			"CUDA_ERROR_OUT_OF_MEMORY", "CUDA runtime error in cudaMalloc"},
			"see whether another process still holds GPU memory; then lower the memory utilisation or the context", false},
		{"host_oom", []string{"oom-kill:", "Out of memory: Killed process", "Cannot allocate memory", "std::bad_alloc", "DefaultCPUAllocator: can't allocate memory",
			" MemoryError", "_ArrayMemoryError", "runtime: out of memory: cannot allocate"},
			"it needs more memory than the machine or its limit gives: look at dmesg, and at the memory that other programs hold", false},
		{"shm_too_small", []string{"Insufficient space in /dev/shm", "Error while creating shared memory segment", "/dev/shm/nccl-", "posix_fallocate failed"},
			"set server.shm_size, for example 16g", false},
		{"disk_full", []string{"No space left on device"}, "free space on the disk of the engine or of its caches", false},
		{"driver_too_old", []string{"unsatisfied condition: cuda", "driver version is insufficient for CUDA runtime", "The NVIDIA driver on your system is too old"},
			"the image wants a newer driver than this machine has: take an image built for this driver, or a newer driver", false},
		{"device_permission", []string{"Unable to open /dev/kfd", "Could not initialize Tensile host", "open /dev/dri/renderD", "failed to open /dev/kfd"},
			"the server may not open the GPU: check the groups of /dev/kfd and /dev/dri/renderD* and that it runs as one of their members", false},
		{"wrong_arch", []string{"no kernel image is available for execution on the device", "invalid device function", "Unsupported gfx", "unsupported CPU attention configuration",
			"Unsupported CPU attention configuration", "not compiled for this GPU", "is not compatible with the current PyTorch installation",
			"nly SM", "nly sm_", "nly support SM", "nly supports SM", "nly supported on SM", "nly supported on gfx", "Unsupported SM", "Unsupported sm_", "Minimum capability:",
			"GPUs with compute capability", "No supported CUDA architectures found"},
			"this image or build does not support this accelerator: take one built for it", false},
		{"no_gpu", []string{"No HIP GPUs are available", "No CUDA GPUs are available", "Found no NVIDIA driver", "no ROCm-capable device is detected", "no CUDA-capable device is detected",
			"Failed to infer device type", "NVML Shared Library Not Found", "NVMLError_", "Failed to initialize NVML", "Driver/library version mismatch", "could not select device driver",
			"libcuda.so.1: cannot open shared object file"},
			"check the driver, server.gpus, and the groups of /dev/kfd and /dev/dri/renderD*", false},
		{"port_in_use", []string{"ddress already in use", "couldn't bind HTTP server socket"}, "stop the program that holds the port, or leave server.port out", false},
		{"bad_argument", []string{"unrecognized arguments", "invalid choice:", "error: invalid argument:", "the following arguments are required", "unexpected keyword argument",
			"No such option", "error: unexpected argument", "error: invalid value", "error: argument -", "unknown flag:", "unknown shorthand flag:"},
			"correct server.args: this version of the server does not know the argument named in the line", false},
		{"model_auth", []string{"GatedRepoError", "401 Client Error", "403 Client Error", "Client error '401 ", "Client error '403 ", "Cannot access gated repo"}, "accept the model's licence and give the server a token, or mount the model", false},
		{"model_missing", []string{"RepositoryNotFoundError", "RevisionNotFoundError", "LocalEntryNotFoundError", "OfflineModeIsEnabled", "is not a local folder and is not a valid model identifier",
			"failed to open GGUF file", "does not appear to have a file named", "Repo id must be", "Cannot find any model weights", "No supported config format found"},
			"check model.path: the files the server looks for are not there", false},
		{"corrupt_weights", []string{"Error while deserializing header", "incomplete metadata, file not fully covered", "SafetensorError", "invalid magic characters", "data is not within the file bounds"},
			"the weights are damaged or incomplete: compare their SHA-256 with the source", false},
		{"trust_remote_code", []string{"trust_remote_code=True", "requires you to execute the"}, "the model brings its own code: read it, then add --trust-remote-code", false},
		{"unsupported_model", []string{"unknown model architecture", "are not supported for now", "does not recognize this architecture"}, "this version of the server does not know the model: take a newer one", false},
		{"illegal_access", []string{"illegal memory access", "Memory access fault by GPU node", "HSA_STATUS_ERROR_EXCEPTION"}, "suspect the GPU or its driver: look at dmesg for resets and ECC errors", false},
		{"gpu_error", []string{"CUDA error", "HIP error", "hipError", "cudaError"}, "look at the lines around it, and at dmesg", false},
		{"collective", []string{"NCCL error", "RCCL error", "RCCL Error", "RCCL ERROR", "RCCL failure", "unhandled system error", "ncclSystemError", "ncclUnhandledCudaError", "ncclInternalError",
			"(run with NCCL_DEBUG=", "remote process exited or there was a network error"},
			"set NCCL_DEBUG=INFO; check shared memory size and the links between GPUs", false},
		{"cannot_run", []string{"[FATAL tini ", "failed to exec pid1:", ": error while loading shared libraries:"}, // tini, catatonit, the loader
			"the image or the machine has no such program, or cannot run it: correct the command in the plan, or take a build for this machine", false},
		{"illegal_instruction", []string{"Illegal instruction"}, "the build needs CPU features that this machine lacks", false},
		{"model_load", []string{"failed to load model", "error loading model"}, "look at the lines before it in the log", true},
		{"engine_dead", []string{"EngineDeadError", "EngineCore encountered a fatal error", "EngineCore failed to start", "Engine core initialization failed", "Watchdog timeout",
			"Executor worker returned error", "ShardCannotStart", "Shard process was signaled"},
			"look at the first traceback in the log: it names the cause", true},
		{"panic", []string{" panic: ", " panicked at ", "fatal error: all goroutines are asleep", "fatal error: concurrent map", "fatal error: unexpected signal", "fatal error: stack overflow",
			"fatal error: sync:", "fatal error: runtime:"},
			"the program gave itself up: the lines after it in the log say where; take another version of it, or tell those who make it", true},
	}
}

// Classify finds the first line of a log that a signature knows and that is not harmless. A line that only warns, or tells that something
// failed and not why, counts where no other does. What stands before the server said that it is up did not keep it from getting there.
func Classify(log io.Reader) (s Signature, line string, ok bool) {
	var first, second finding
	known, lines := Signatures(), bufio.NewReader(log)
	for {
		text, err := lines.ReadString('\n')
		f := find(known, text)
		switch {
		case isUp(text):
			first, second = finding{}, finding{}
		case f.Code == "":
		case !f.weak && first.Code == "":
			first = f
		case second.Code == "":
			second = f
		}
		if err != nil {
			break
		}
	}
	if first.Code == "" {
		first = second
	}
	return first.Signature, first.line, first.Code != ""
}

// finding is a line that a signature knows.
type finding struct {
	Signature
	line string
	weak bool // it may stand in the log of a server that fails for another cause
}

// find looks at one line of a log; in a harmless one it finds nothing.
func find(known []Signature, text string) finding {
	for _, k := range known {
		if !ContainsAny(" "+text, k.Any) {
			continue
		}
		if harmless(text) {
			return finding{}
		}
		return finding{Signature: k, line: FirstLine(text), weak: k.Wrapper || warns(text)}
	}
	return finding{}
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
