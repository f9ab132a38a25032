package engine

import "context"

// ollama serves what was pulled into it before, by its names such as llama3.2:1b. It takes its address from its environment and has
// no metrics.
func ollama() Preset {
	return Preset{
		Name:       "ollama",
		Program:    func(string) []string { return []string{"ollama", "serve"} },
		Flags:      Flags{AddressEnv: "OLLAMA_HOST"},
		HealthPath: "/api/version", ModelsPath: "/v1/models",
		Describe: describeOllama,
	}
}

func describeOllama(ctx context.Context, a Asker) Facts {
	var v struct{ Version string }
	if !a.JSON(ctx, "/api/version", &v) {
		return Facts{}
	}
	var loaded struct {
		Models []struct {
			Context int64 `json:"context_length"`
		}
	}
	if f := (Facts{Version: v.Version}); !a.JSON(ctx, "/api/ps", &loaded) || len(loaded.Models) == 0 {
		return f
	}
	return Facts{Version: v.Version, MaxModelLen: loaded.Models[0].Context}
}
