package runner

import (
	"context"
	"errors"
	"io"
	"strconv"

	"assay/plan"
	"assay/runner/dataset"
	"assay/runner/external"
	"assay/runner/load"
)

// wordsLess is how many times fewer words than tokens a text may have: nobody can be asked for its tokens yet.
const wordsLess = 8

// CheckDataset tells why the plan's client could not take a conversation from the plan's dataset, for any of its points, or could not do
// what the plan asks. It reads no more of the data than the first conversation needs, or all that another program is given.
func CheckDataset(ctx context.Context, p plan.Plan) error {
	if tool, ok := external.Named(p.Client.Kind); ok {
		return checkForeign(ctx, p, tool)
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
		if err := opens(ctx, cfg); err != nil {
			return err
		}
	}
	return nil
}

// CheckClient tells what of the plan its client cannot do. It looks at the plan alone.
func CheckClient(p plan.Plan) error {
	tool, ok := external.Named(p.Client.Kind)
	if !ok {
		return nil
	}
	return tool.Check(p)
}

// CheckLimits tells why this machine could not hold the connections that a point of the plan needs.
func CheckLimits(p plan.Plan) error {
	if p.Client.Kind != (native{}).Name() {
		return nil
	}
	for _, point := range p.Points() {
		targets, err := expected(p, point)
		if err != nil {
			return err
		}
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

// expected are the targets that a point will have: its router, the servers that run already, or those that are yet to be started.
func expected(p plan.Plan, point plan.Point) ([]load.Target, error) {
	if point.Router.Kind != "" && point.Router.Kind != plan.RouterNone {
		return []load.Target{{Network: "tcp", Address: "the router"}}, nil
	}
	targets, err := targetsOf(p.Server.BaseURLs(), false)
	if err != nil || len(targets) > 0 {
		return targets, err
	}
	if p.Server.Replicas < 2 {
		return []load.Target{{Network: "tcp", Address: "the server"}}, nil
	}
	for i := range p.Server.Replicas {
		targets = append(targets, load.Target{Network: "tcp", Address: "server-" + strconv.Itoa(i)})
	}
	return targets, nil
}

func opens(ctx context.Context, cfg dataset.Config) error {
	src, err := dataset.Open(ctx, cfg)
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
