package process

import (
	"slices"
	"strings"

	"assay/plan"
)

// inherited are the variables a process takes over from this program without being named in the plan: where it finds programs, its home,
// libraries and devices. A name that ends in * stands for all that begin so. Everything else, and every secret, has to be named: what
// happens to be set in a shell must not change a result.
func inherited() []string {
	return []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LANG", "LANGUAGE", "LC_*", "XDG_*",
		"LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "CONDA_PREFIX",
		"CUDA_*", "NVIDIA_*", "ROCM_*", "ROCR_*", "HIP_*", "HSA_*", "GPU_DEVICE_ORDINAL", "ZE_*", "NCCL_*", "RCCL_*", "UCX_*",
	}
}

// handedDown picks of an environment what a process inherits.
func handedDown(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return plan.LooksSecret(name) || !slices.ContainsFunc(inherited(), func(known string) bool {
			begin, many := strings.CutSuffix(known, "*")
			return name == known || many && strings.HasPrefix(name, begin)
		})
	})
}
