package containers

import (
	"maps"

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
