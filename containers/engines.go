package containers

import (
	"context"

	"assay/containers/engine"
)

// Preset is what assay knows of a kind of server.
type Preset = engine.Preset

// Metrics is one scrape of an engine.
type Metrics = engine.Metrics

// Presets are the kinds of server, in the order they are listed.
func Presets() []Preset { return engine.Presets() }

// PresetNamed finds a kind of server.
func PresetNamed(name string) (Preset, error) { return engine.PresetNamed(name) }

// Access is how servers are asked.
type Access = engine.Access

// Scrape reads the metrics of servers by our names, over all their engines.
func Scrape(ctx context.Context, baseURLs []string, p Preset, access Access) (Metrics, error) {
	return engine.Scrape(ctx, baseURLs, p, access)
}
