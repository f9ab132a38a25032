package dataset

import (
	"context"
	"slices"
	"strings"

	"assay/fault"
)

// kind is a way to make conversations. One of its functions is set: source makes them from nothing, read takes them from data.
type kind struct {
	name   string
	source func(Config) Source
	read   func(origin, Config) reader
	folder bool // Path may be a folder
}

// kinds lists all there are, in the order people see.
func kinds() []kind {
	return []kind{
		{name: "synthetic", source: newSynthetic},
		{name: "sharegpt", read: newShareGPT},
		{name: "text", read: newText, folder: true},
		{name: "jsonl", read: newJSONL},
		{name: "agentic", read: newAgentic},
		{name: "trace", read: newTrace},
	}
}

// Kinds names the kinds Open knows.
func Kinds() []string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.name)
	}
	return names
}

// Open gives the source of cfg. Data that is missing, empty or without one usable conversation is a fault here, not later. The
// returned source is an io.Closer when it holds a file. When ctx ends while data is read for its hash, ctx's cause is given.
func Open(ctx context.Context, cfg Config) (Source, error) {
	cfg.fillDefaults()
	i := slices.IndexFunc(kinds(), func(k kind) bool { return k.name == cfg.Kind })
	if i < 0 {
		return nil, fault.New(fault.Client, "dataset_kind", "use one of "+strings.Join(Kinds(), ", "), "unknown workload kind %q", cfg.Kind)
	}
	if min(cfg.InputLen, cfg.Turns, cfg.MaxTokens, cfg.Shared) < 0 {
		return nil, fault.New(fault.Client, "dataset_config", "give lengths and turns of at least 1", "negative length in the workload")
	}
	s, err := openKind(ctx, kinds()[i], cfg)
	if err != nil || cfg.Shared == 0 && cfg.Ahead == nil {
		return s, err
	}
	return newRotating(s, cfg)
}

func openKind(ctx context.Context, k kind, cfg Config) (Source, error) {
	if k.source != nil {
		return k.source(cfg), nil
	}
	from, err := originOf(ctx, cfg, k.folder)
	if err != nil {
		return nil, err
	}
	return openRepeating(from, cfg, k.read)
}

func (c *Config) fillDefaults() {
	if c.InputLen == 0 && c.Kind != "sharegpt" {
		c.InputLen = DefaultInputLen
	}
	if c.Vocabulary.Size() == 0 {
		c.Vocabulary = Words()
	}
	if c.Cut == nil {
		c.Cut = CutWords
	}
}
