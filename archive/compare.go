package archive

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"assay/runner/metrics"
)

// compare gives how many numbers two summaries hold and says which of them differ. It compares what JSON writes of them, so a
// number that was told only once differs, and a float equals itself to the last bit.
func compare(prefix string, told, recomputed *metrics.Summary) (numbers int, differ []string) {
	have, want := flatten(prefix, told), flatten(prefix, recomputed)
	names := maps.Clone(have)
	maps.Copy(names, want)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if have[name] != want[name] {
			differ = append(differ, fmt.Sprintf("%s is %s, the recording gives %s", name, orNothing(have[name]), orNothing(want[name])))
		}
	}
	return len(names), differ
}

func orNothing(number string) string {
	if number == "" {
		return "not told"
	}
	return number
}

// flatten gives the leaves of a summary's JSON by their path: "ttft_ms.p90" → "12.5".
func flatten(prefix string, s *metrics.Summary) map[string]string {
	leaves := map[string]string{}
	if s == nil {
		return leaves
	}
	b, err := json.Marshal(s)
	if err != nil {
		leaves[prefix+"summary"] = err.Error() // a number JSON cannot write
		return leaves
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var tree map[string]any
	if err := d.Decode(&tree); err != nil {
		leaves[prefix+"summary"] = err.Error()
		return leaves
	}
	addLeaves(leaves, prefix, tree)
	return leaves
}

func addLeaves(leaves map[string]string, prefix string, tree map[string]any) {
	for key, value := range tree {
		if inner, ok := value.(map[string]any); ok {
			addLeaves(leaves, prefix+key+".", inner)
			continue
		}
		leaves[prefix+key] = fmt.Sprint(value)
	}
}
