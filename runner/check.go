package runner

import (
	"errors"
	"io"

	"assay/plan"
	"assay/runner/dataset"
	"assay/runner/load"
)

// wordsLess is how many times fewer words than tokens a text may have: nobody can be asked for its tokens yet.
const wordsLess = 8

// CheckDataset tells why the plan's client could not take a conversation from the plan's dataset, for any of its points. It reads no
// more of the data than the first conversation needs.
func CheckDataset(p plan.Plan) error {
	if p.Client.Kind != (native{}).Name() {
		return nil
	}
	checked := map[int]bool{} // only the length differs between points
	for _, point := range p.Points() {
		cfg := datasetConfig(Job{Plan: p, Point: point})
		cfg.Unhashed, cfg.Shared = true, 0
		if p.Workload.Lengths == "tokens" {
			cfg.InputLen = shortest(cfg)
		}
		if checked[cfg.InputLen] {
			continue
		}
		checked[cfg.InputLen] = true
		if err := opens(cfg); err != nil {
			return err
		}
	}
	return nil
}

// CheckLimits tells why this machine could not hold the connections that a point of the plan needs. A server that is yet to be started
// counts as one address.
func CheckLimits(p plan.Plan) error {
	if p.Client.Kind != (native{}).Name() {
		return nil
	}
	targets, err := targetsOf(p.Server.BaseURLs(), false)
	if err != nil {
		return err
	}
	if len(targets) == 0 {
		targets = []load.Target{{Network: "tcp", Address: "the server"}}
	}
	for _, point := range p.Points() {
		var cfg load.Config
		if err := pace(&cfg, Job{Plan: p, Point: point}); err != nil {
			return err
		}
		if err := load.CheckLimits(cfg.Connections(), targets); err != nil {
			return err
		}
	}
	return nil
}

func opens(cfg dataset.Config) error {
	src, err := dataset.Open(cfg)
	if err != nil {
		return err
	}
	_, err = src.Next()
	if file, ok := src.(io.Closer); ok {
		err = errors.Join(err, file.Close())
	}
	return err
}

// shortest is the length in words below which data cannot give a prompt of cfg's length in tokens; 0 where none can be told.
func shortest(cfg dataset.Config) int {
	if cfg.Kind == "sharegpt" { // it passes over what is too long
		return 0
	}
	return (cfg.InputLen + wordsLess - 1) / wordsLess
}
