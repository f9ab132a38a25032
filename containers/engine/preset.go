package engine

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"assay/fault"
)

// Preset is what assay knows of a kind of server: where it answers, how it spells its arguments and its metrics.
type Preset struct {
	Name        string
	Program     func(self string) []string // runtime process without a command; self is this program; nil result: the plan must have one
	Entrypoint  []string                   // runtime docker without a command; empty: the image's
	Flags       Flags
	Env         map[string]string // under the plan's
	OfflineEnv  map[string]string // under the plan's, when the model lies on disk
	ShmBytes    int64             // /dev/shm of a container, when the plan does not say
	GPUs        string            // of a container, when the plan does not say; as many as there are
	Ulimits     map[string]string // limits of a container that it would like, when the plan does not say
	HealthPath  string            // "" when the kind has none that can be relied on
	ModelsPath  string
	AnyModel    bool // it serves one model by whatever name it is asked for, and cannot be told how to list it
	MetricsPath string
	Metrics     map[string][]Series                      // our name → how the server spells it, first that is there wins
	Describe    func(ctx context.Context, a Asker) Facts // what it tells of itself
	Loading     []LoadLine                               // texts of its log by which the parts of its start are known; of those that fit the first counts
}

// Facts are what a server tells of itself; what it does not tell is zero.
type Facts struct {
	Version      string
	MaxModelLen  int64  // tokens
	KVTokens     int64  // over all engines
	Quantization string // of the weights, in the server's word
	DType        string // of the computation, in the server's word
	Settings     []Setting
}

// none tells that the server told nothing.
func (f Facts) none() bool {
	return f.Version == "" && f.MaxModelLen == 0 && f.KVTokens == 0 && f.Quantization == "" && f.DType == "" && len(f.Settings) == 0
}

// Series is a set of metric names whose values are added; it counts only when all of them are there.
type Series []string

// Flags is how a server spells the arguments that assay controls. The first spelling is written, all are recognised.
type Flags struct {
	Host, Port, Model, Served []string
	Revision                  []string   // hub revision of the weights
	TokenizerRevision         []string   // hub revision of the tokenizer, where it is apart
	Switches                  [][]string // always on
	Positional                []string   // after one of these as the last word of the command the model is the first argument, without a flag
	PathOnly                  bool       // Model takes a file, never a hub name
	AddressEnv                string     // variable that says host:port, for a server without such flags
}

// Presets are the kinds of server, in the order they are listed.
func Presets() []Preset {
	return []Preset{vllm(), sglang(), llamacpp(), trtllm(), tgi(), ollama(), simulated(), openai()}
}

// PresetNamed finds a kind of server.
func PresetNamed(name string) (Preset, error) {
	var known []string
	for _, p := range Presets() {
		if p.Name == name {
			return p, nil
		}
		known = append(known, p.Name)
	}
	return Preset{}, fault.New(fault.Plan, "engine_unknown", "write one of "+strings.Join(known, ", "), "server.engine %q is not known", name)
}

// Values are what arguments are filled with; an empty one is left out.
type Values struct {
	Host     string
	Port     int
	Model    string
	Served   string
	Revision string
}

// Arguments adds to args what they do not say themselves, spelled as the preset's server wants it.
func (p Preset) Arguments(command, args []string, v Values) []string {
	f := p.Flags
	var out []string
	if positional(command, f) && v.Model != "" && !saysModel(args, f) {
		out, v.Model = append(out, v.Model), ""
	}
	out = append(out, args...)
	add := func(spellings []string, value string) {
		if len(spellings) > 0 && value != "" && !has(args, spellings) {
			out = append(out, spellings[0], value)
		}
	}
	if !saysModel(args, f) {
		add(f.Model, v.Model)
	}
	add(f.Served, v.Served)
	add(f.Revision, v.Revision)
	add(f.TokenizerRevision, v.Revision)
	add(f.Host, v.Host)
	add(f.Port, strconv.Itoa(v.Port))
	for _, s := range f.Switches {
		if !has(args, s) {
			out = append(out, s[0])
		}
	}
	return out
}

func positional(command []string, f Flags) bool {
	return len(command) > 0 && slices.Contains(f.Positional, command[len(command)-1])
}

// saysModel: by a flag, or as the first argument where that is how the server takes it.
func saysModel(args []string, f Flags) bool {
	if has(args, f.Model) {
		return true
	}
	return len(f.Positional) > 0 && len(args) > 0 && !strings.HasPrefix(args[0], "-")
}

// has tells whether args hold one of the spellings, as a word of its own or with "=value".
func has(args, spellings []string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		word, _, _ := strings.Cut(a, "=")
		return slices.Contains(spellings, word)
	})
}

// FlagValue is the value args give to a flag; the last one counts, as with the servers' own parsers.
func FlagValue(args, spellings []string) (value string, ok bool) {
	for i, a := range args {
		word, v, joined := strings.Cut(a, "=")
		if !slices.Contains(spellings, word) {
			continue
		}
		if joined {
			value, ok = v, true
		} else if i+1 < len(args) {
			value, ok = args[i+1], true
		}
	}
	return value, ok
}

// ulimits are what a server on several GPUs needs of its container: memory that is pinned for transfers (RDMA, collectives), the stacks of its
// threads, and a descriptor for every connection and shard.
func ulimits() map[string]string {
	return map[string]string{"memlock": "unlimited", "stack": "67108864", "nofile": "1048576"}
}
