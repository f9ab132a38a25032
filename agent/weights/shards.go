package weights

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay/plan"
)

// weightFiles: every shard that an index names is there and has the tensors that the index says it has, and each is whole as far as its beginning
// tells. Numbered shards that no index names are held against their number.
func weightFiles(p plan.Plan, names []string) []string {
	wrong, missing, indexed := indexes(p.Model.Path, names)
	weights := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !isWeights(name) })
	headers := map[string][]string{}
	for _, name := range weights {
		found, tensors := weightFile(filepath.Join(p.Model.Path, name))
		wrong = append(wrong, found...)
		if tensors != nil {
			headers[name] = tensors
		}
		if indexed[name] == nil {
			wrong = append(wrong, siblings(name, names)...)
		}
	}
	wrong = append(wrong, lackingTensors(indexed, headers)...)
	switch {
	case len(weights) > 0:
		return wrong
	case len(missing) > 0:
		return append(wrong, missing...)
	case strict(p) && !said(p, "--load-format", "--load_format", "--model-loader-extra-config"):
		return append(wrong, "it has no weights (.safetensors, .bin, .pt, .gguf)")
	}
	return wrong
}

// lackingTensors holds what an index says of its shards against their headers: a folder mixed of two revisions has every file. A tensor that another
// shard has is loaded all the same, and an output layer may be the embeddings, which are stored once.
func lackingTensors(indexed, headers map[string][]string) (wrong []string) {
	has := map[string]bool{}
	for _, tensors := range headers {
		for _, t := range tensors {
			has[t] = true
		}
	}
	for _, shard := range slices.Sorted(maps.Keys(headers)) {
		lacking := slices.DeleteFunc(slices.Clone(indexed[shard]), func(t string) bool { return has[t] || strings.HasSuffix(t, "lm_head.weight") })
		if len(lacking) > 0 {
			slices.Sort(lacking)
			wrong = append(wrong, fmt.Sprintf("%s has no tensor %s, which an index says it has (of such there are %d)", shard, lacking[0], len(lacking)))
		}
	}
	return wrong
}

// indexes reads every index of a folder; indexed are the tensors of each shard. Of one that names no file that is there all are missing, which is no
// fault yet: it may be of another form of the same model.
func indexes(dir string, names []string) (wrong, missing []string, indexed map[string][]string) {
	indexed = map[string][]string{}
	for _, name := range names {
		if !strings.HasSuffix(name, ".index.json") {
			continue
		}
		shards, err := shardsOf(filepath.Join(dir, name))
		if err != nil {
			wrong = append(wrong, name+": "+err.Error())
			continue
		}
		var lacking []string
		for _, s := range slices.Sorted(maps.Keys(shards)) {
			indexed[s] = append(indexed[s], shards[s]...)
			if !slices.Contains(names, s) {
				lacking = append(lacking, s+", which "+name+" names, is not there")
			}
		}
		if len(lacking) < len(shards) {
			wrong = append(wrong, lacking...)
		} else {
			missing = append(missing, lacking...)
		}
	}
	return wrong, missing, indexed
}

// isWeights tells a file of weights by its name.
func isWeights(name string) bool {
	return slices.Contains([]string{".safetensors", ".gguf", ".bin", ".pt", ".pth", ".engine"}, filepath.Ext(name)) && !ofTraining(name)
}

// weightFile looks at one file of weights, as far as its form is known. tensors are those of its header, nil where it has none or something is wrong.
func weightFile(file string) (wrong, tensors []string) {
	switch filepath.Ext(file) {
	case ".safetensors":
		wrong = look(file, func(r io.Reader, size int64) (err error) {
			tensors, err = safetensors(r, size)
			return err
		})
		return wrong, tensors
	case ".gguf":
		return ggufFile(file), nil
	}
	return look(file, notEmpty), nil
}

func notEmpty(_ io.Reader, size int64) error {
	if size == 0 {
		return errors.New("is empty")
	}
	return nil
}

// ofTraining tells a file that training left beside the weights: no server loads it.
func ofTraining(name string) bool {
	return slices.ContainsFunc([]string{"training_args.", "optimizer", "scheduler.", "scaler.", "rng_state"}, func(s string) bool { return strings.HasPrefix(name, s) })
}

// siblings lists those of a numbered shard that are not there, by the first that is.
func siblings(name string, names []string) (missing []string) {
	part := regexp.MustCompile(`^(.+-)(\d{5})(-of-(\d{5})\.(?:safetensors|bin))$`).FindStringSubmatch(name)
	if part == nil {
		return nil
	}
	number, _ := strconv.Atoi(part[2]) // five digits
	of, _ := strconv.Atoi(part[4])
	for i := 1; i <= of; i++ {
		other := fmt.Sprintf("%s%05d%s", part[1], i, part[3])
		switch there := slices.Contains(names, other); {
		case there && i < number:
			return nil
		case !there:
			missing = append(missing, other+", which "+name+" is one of, is not there")
		}
	}
	return missing
}

// shardsOf lists the files that an index names, and the tensors that it says are in each.
func shardsOf(index string) (map[string][]string, error) {
	b, err := os.ReadFile(index)
	if err != nil {
		return nil, err
	}
	return parseIndex(b)
}

func parseIndex(b []byte) (map[string][]string, error) {
	var doc struct {
		WeightMap map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		return nil, fmt.Errorf("no index: %w", err)
	}
	shards := map[string][]string{}
	for tensor, s := range doc.WeightMap {
		if s != filepath.Base(s) {
			return nil, fmt.Errorf("it names %q, which is no file beside it", s)
		}
		shards[s] = append(shards[s], tensor)
	}
	return shards, nil
}
