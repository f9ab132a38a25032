package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"assay/fault"
	"assay/plan"
	"assay/runner"
)

// data is where prompts come from.
type data struct {
	kind          string // of a workload
	path, builtin string // "" for made prompts
	sha256        string // of what lies at path
}

// kinds are those that --dataset-kind may say.
const kinds = "sharegpt, text, jsonl, agentic or trace"

// data finds out what the flags say of the dataset.
func (b *Options) data(ctx context.Context) (data, error) {
	if b.dataset == "" {
		if b.kind != "" {
			return data{}, usage("--dataset-kind says how --dataset is read, which is missing")
		}
		return data{kind: "synthetic"}, nil
	}
	if name, ok := strings.CutPrefix(b.dataset, "builtin:"); ok {
		return data{kind: "agentic", builtin: name}, nil
	}
	path, err := filepath.Abs(b.dataset)
	if err != nil {
		return data{}, fmt.Errorf("find the dataset: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return data{}, fault.New(fault.Plan, "dataset_missing", "check the name", "the dataset cannot be read: %w", err)
	}
	kind, err := b.kindOf(path, info.IsDir())
	if err != nil {
		return data{}, err
	}
	sum, err := new(runner.Prepared).Hasher(ctx)(path)
	if ctx.Err() != nil {
		return data{}, ctx.Err()
	}
	if err != nil {
		return data{}, unreadable(err)
	}
	return data{kind: kind, path: path, sha256: sum}, nil
}

// workload adds the keys of a plan's workload.
func (d data) workload(keys map[string]any) {
	keys["kind"] = d.kind
	switch {
	case d.path != "":
		keys["dataset"] = map[string]any{"path": d.path, "sha256": d.sha256}
	case d.builtin != "":
		keys["dataset"] = map[string]any{"builtin": d.builtin}
	}
}

// inputLenOf is what the flags say of a prompt's length: 0 where the data or the contexts do. One that was asked for stands in the plan, whose
// rules say whether the data can have it.
func (b *Options) inputLenOf(d data) plan.Length {
	if made := d.kind == "synthetic" || d.kind == "text"; b.inputLen == 0 && made && b.contexts == nil {
		return defaultInputLen
	}
	return b.inputLen
}

// kindOf guesses a dataset's kind where the flag does not say it. What to send of a folder is not guessed.
func (b *Options) kindOf(path string, folder bool) (string, error) {
	switch {
	case folder && b.kind != "text":
		return "", usage("--dataset %s is a folder: name a file of it, or say --dataset-kind text to send its *.txt files", b.dataset)
	case b.kind != "":
		return b.kind, nil
	}
	kind, err := guess(path)
	if err != nil {
		return "", unreadable(err)
	}
	if kind == "" {
		return "", usage("--dataset %s: its name does not tell its kind; say --dataset-kind %s", b.dataset, kinds)
	}
	return kind, nil
}

func unreadable(err error) error {
	return fault.New(fault.Plan, "dataset_unreadable", "check the file and its permissions", "the dataset cannot be read: %w", err)
}

// guess tells a dataset's kind by its name and, of JSON, by its first record; "" when neither tells.
func guess(path string) (kind string, err error) {
	switch filepath.Ext(path) {
	case ".txt":
		return "text", nil
	case ".csv":
		return "trace", nil
	case ".json":
		kind = "sharegpt"
	case ".jsonl":
		kind = "jsonl"
		if strings.Contains(filepath.Base(path), "agentic") {
			return "agentic", nil
		}
	default:
		return "", nil
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	switch list, keys := firstRecord(f); {
	case list || slices.Contains(keys, "conversations"):
		return "sharegpt", nil
	case slices.Contains(keys, "timestamp"):
		return "trace", nil
	case slices.Contains(keys, "conversation_id") || slices.Contains(keys, "_type"):
		return "agentic", nil
	}
	return kind, nil
}

// firstBytes is how much of a file is looked at.
const firstBytes = 1 << 20

// firstRecord tells whether JSON is one list, and else the keys of its first object, as far as they can be read.
func firstRecord(r io.Reader) (list bool, keys []string) {
	in := json.NewDecoder(io.LimitReader(r, firstBytes))
	open, err := in.Token()
	if err != nil || open != json.Delim('{') {
		return open == json.Delim('['), nil
	}
	for in.More() {
		key, err := in.Token()
		name, isText := key.(string)
		if err != nil || !isText {
			break
		}
		keys = append(keys, name)
		var value json.RawMessage
		if in.Decode(&value) != nil {
			break
		}
	}
	return false, keys
}
