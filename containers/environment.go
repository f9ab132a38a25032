package containers

import (
	"maps"
	"slices"
	"strings"

	"assay/fault"
	"assay/plan"
)

// environment is the preset's under the plan's, and what the plan takes from this program's own. A model that lies on disk is never
// looked for on the network. address is host:port, for servers that are told it so.
func environment(preset Preset, p plan.Plan, opt SpecOptions, address string) (map[string]string, error) {
	env := map[string]string{}
	maps.Copy(env, preset.Env)
	if p.Model.Path != "" {
		maps.Copy(env, preset.OfflineEnv)
	}
	if name := preset.Flags.AddressEnv; name != "" {
		env[name] = address
	}
	maps.Copy(env, p.Server.Env)
	for _, name := range p.Server.EnvFrom {
		value := ""
		if opt.Getenv != nil {
			value = opt.Getenv(name)
		}
		if value == "" {
			return nil, fault.New(fault.Preflight, "variable_missing", "export "+name+"=… for the program that executes the run",
				"the plan's server.env_from names %s, which is not set", name)
		}
		env[name] = value
	}
	return env, nil
}

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
