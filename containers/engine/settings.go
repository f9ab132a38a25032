package engine

import (
	"slices"
	"strconv"
	"strings"
)

// Setting is one thing that a server runs with, as it was found.
type Setting struct {
	Name   string `json:"name"`   // tensor_parallel, kv_blocks, …
	Value  string `json:"value"`  // as the source spells it
	Source string `json:"source"` // a path of the server, log, argv
}

// The settings that are compared with a plan.
const (
	TensorParallel   = "tensor_parallel"
	PipelineParallel = "pipeline_parallel"
	DataParallel     = "data_parallel"
	ExpertParallel   = "expert_parallel"
	Engines          = "engines" // behind one address, as its metrics count them
	KVBlocks         = "kv_blocks"
	KVBlockTokens    = "kv_block_tokens"
	KVDType          = "kv_cache_dtype"
	PrefixCaching    = "prefix_caching"
	MemoryShare      = "gpu_memory_share"
	ContextTokens    = "max_model_len"
	Slots            = "slots"
	Revision         = "revision"
	Root             = "model_root" // where the server has its model from
	DevMode          = "dev_mode"   // paths that change the server are open
)

// spelling is how servers write a setting: in what they print of their configuration, and as an argument.
type spelling struct {
	name    string
	printed []string
	flags   []string
	toggle  bool // the argument stands alone
}

func spellings() []spelling {
	return []spelling{
		{TensorParallel, []string{"tensor_parallel_size", "tp_size"}, []string{"--tensor-parallel-size", "-tp", "--tp-size", "--tp_size", "--tp", "--num-shard"}, false},
		{PipelineParallel, []string{"pipeline_parallel_size", "pp_size"}, []string{"--pipeline-parallel-size", "-pp", "--pp-size", "--pp_size", "--pp"}, false},
		{DataParallel, []string{"data_parallel_size", "dp_size"}, []string{"--data-parallel-size", "-dp", "--dp-size", "--dp"}, false},
		{ExpertParallel, []string{"enable_expert_parallel", "ep_size"}, []string{"--ep-size", "--ep_size", "--ep", "--expert-parallel-size"}, false},
		{ExpertParallel, nil, []string{"--enable-expert-parallel", "-ep"}, true},
		{ContextTokens, []string{"max_seq_len", "max_model_len", "context_length"}, []string{"--max-model-len", "--context-length", "--max_seq_len", "--max-total-tokens"}, false},
		{KVDType, []string{"kv_cache_dtype"}, []string{"--kv-cache-dtype", "--cache-type-k"}, false},
		{KVBlockTokens, []string{"page_size"}, []string{"--block-size", "--page-size"}, false},
		{PrefixCaching, []string{"enable_prefix_caching"}, nil, false},
		{MemoryShare, []string{"gpu_memory_utilization", "mem_fraction_static"}, []string{"--gpu-memory-utilization", "--mem-fraction-static", "--kv_cache_free_gpu_memory_fraction"}, false},
		{Slots, nil, []string{"--parallel", "-np"}, false},
		{Revision, []string{"revision"}, []string{"--revision"}, false},
	}
}

// PrintedSettings reads what a server prints of its configuration at its start: name=value or 'name': value, between commas.
func PrintedSettings(line string) []Setting {
	if !ContainsAny(line, []string{"with config:", "non-default args:", "server_args=", "ServerArgs("}) {
		return nil
	}
	var out []Setting
	for _, s := range spellings() {
		for _, name := range s.printed {
			if value, ok := printed(line, name); ok && value != "None" && value != "" {
				out = append(out, Setting{s.name, value, "log"})
				break
			}
		}
	}
	return out
}

// printed finds the value of a name, which must stand alone: revision is not tokenizer_revision.
func printed(line, name string) (value string, ok bool) {
	for _, before := range []string{" ", "(", "{", ","} {
		for _, form := range []string{name + "=", "'" + name + "': "} {
			_, after, found := strings.Cut(line, before+form)
			if !found {
				continue
			}
			end := strings.IndexAny(after, ",)}\n")
			if end < 0 {
				end = len(after)
			}
			return strings.Trim(strings.TrimSpace(after[:end]), `'"`), true
		}
	}
	return "", false
}

// ArgumentSettings reads what the arguments of a server ask for.
func ArgumentSettings(argv []string) []Setting {
	var out []Setting
	for _, s := range spellings() {
		value, ok := FlagValue(argv, s.flags)
		if s.toggle {
			value, ok = "True", has(argv, s.flags)
		}
		if ok {
			out = append(out, Setting{s.name, value, "argv"})
		}
	}
	return out
}

// Known joins what several sources tell: of each name the first source counts.
func Known(sources ...[]Setting) []Setting {
	var out []Setting
	for _, s := range slices.Concat(sources...) {
		if _, ok := Found(out, s.Name); !ok {
			out = append(out, s)
		}
	}
	return out
}

// Sizes makes numbers of expert parallelism that is said to be on or off: where it is on, all devices of the engines share the experts.
func Sizes(all []Setting) []Setting {
	for i, s := range all {
		switch {
		case s.Name != ExpertParallel || s.Value != "True" && s.Value != "False":
		case s.Value == "False":
			all[i].Value = "1"
		default:
			tensor, _ := Found(all, TensorParallel)
			data, _ := Found(all, DataParallel)
			all[i].Value = strconv.FormatInt(max(tensor.Count(), 1)*max(data.Count(), 1), 10)
		}
	}
	return all
}

// Found looks a setting up by its name.
func Found(all []Setting, name string) (Setting, bool) {
	i := slices.IndexFunc(all, func(s Setting) bool { return s.Name == name })
	if i < 0 {
		return Setting{}, false
	}
	return all[i], true
}

// Count is a setting that is a number; 0 when it is none.
func (s Setting) Count() int64 {
	n, err := strconv.ParseInt(s.Value, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// told makes settings of one source from names and values; empty values are left out.
func told(source string, namesAndValues ...string) []Setting {
	var out []Setting
	for i := 0; i+1 < len(namesAndValues); i += 2 {
		if v := namesAndValues[i+1]; v != "" && v != "0" && v != "None" {
			out = append(out, Setting{namesAndValues[i], v, source})
		}
	}
	return out
}
