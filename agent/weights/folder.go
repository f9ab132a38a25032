package weights

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"assay/plan"
)

// folder looks at a model in the form of Hugging Face's hub.
func folder(p plan.Plan) (wrong []string, err error) {
	entries, err := os.ReadDir(p.Model.Path)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		name := e.Name()
		file := filepath.Join(p.Model.Path, name)
		info, err := os.Stat(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			to, _ := os.Readlink(file)
			wrong = append(wrong, name+" is a link to "+to+", which is not there")
			continue
		case err != nil:
			wrong = append(wrong, name+" cannot be read: "+reason(err))
			continue
		case info.IsDir():
			continue
		}
		if text := outside(p, file); text != "" {
			wrong = append(wrong, name+" "+text)
		}
		if pointer(file, info.Size()) {
			wrong = append(wrong, name+lfsPointer)
			continue
		}
		names = append(names, name)
	}
	wrong = append(wrong, configFile(p, names)...)
	wrong = append(wrong, weightFiles(p, names)...)
	return append(wrong, tokenizer(p, names)...), nil
}

// configFile: config.json can be read. Mistral's own form has params.json in its place.
func configFile(p plan.Plan, names []string) []string {
	if !slices.Contains(names, "config.json") {
		if strict(p) && !slices.Contains(names, "params.json") && !said(p, "--hf-config-path") {
			return []string{"it has no config.json"}
		}
		return nil
	}
	b, err := os.ReadFile(filepath.Join(p.Model.Path, "config.json"))
	if err != nil {
		return []string{"config.json cannot be read: " + reason(err)}
	}
	var doc map[string]any
	if err := json.Unmarshal(b, &doc); err != nil {
		return []string{"config.json is no JSON: " + err.Error()}
	}
	return nil
}

// strict are the engines that load a folder of the hub's form and nothing else.
func strict(p plan.Plan) bool {
	return slices.Contains([]string{"vllm", "sglang", "tgi"}, p.Server.Engine)
}

// said tells whether the server's arguments have a flag.
func said(p plan.Plan, flags ...string) bool {
	return slices.ContainsFunc(p.Server.Args, func(a string) bool {
		word, _, _ := strings.Cut(a, "=")
		return slices.Contains(flags, word)
	})
}

// tokenizer: one of the forms in which it comes, unless the arguments name another or none.
func tokenizer(p plan.Plan, names []string) []string {
	known := []string{"tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt", "tekken.json", "spiece.model", "sentencepiece.bpe.model", "tiktoken.model", "tokenizer.tiktoken"}
	if !strict(p) || said(p, "--tokenizer", "--tokenizer-path", "--skip-tokenizer-init", "--hf-config-path") {
		return nil
	}
	if slices.ContainsFunc(names, func(n string) bool {
		return slices.Contains(known, n) || strings.HasSuffix(n, ".tiktoken") || strings.HasPrefix(n, "tokenization_") || strings.HasPrefix(n, "tokenizer.model.")
	}) {
		return nil
	}
	return []string{"it has no tokenizer (" + strings.Join(known[:4], ", ") + ", …)"}
}
