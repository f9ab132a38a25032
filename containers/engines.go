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

// Scrape reads the metrics of a server by our names, over all its engines.
func Scrape(ctx context.Context, baseURL string, p Preset, token string) (Metrics, error) {
	return engine.Scrape(ctx, baseURL, p, token)
}
