package planfiles

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"assay/fault"
	"assay/plan"
	"assay/runner"
)

// Absolute gives a plan whose relative file names begin at dir as one that can be sent anywhere on this machine. Without a folder they are refused.
func Absolute(p plan.Plan, dir string) (plan.Plan, error) {
	names := []*string{&p.Model.Path, &p.Workload.Dataset.Path, &p.Server.TokenFile, &p.Server.ImageFile}
	if len(p.Server.Command) > 0 && strings.Contains(p.Server.Command[0], "/") {
		p.Server.Command = append([]string(nil), p.Server.Command...)
		names = append(names, &p.Server.Command[0])
	}
	for _, name := range names {
		if *name == "" || filepath.IsAbs(*name) {
			continue
		}
		if dir == "" {
			return p, fault.New(fault.Plan, "relative_path", "write the whole path, beginning with /",
				"%q is a relative file name, and a plan sent over the API has no folder to begin from", *name)
		}
		*name = filepath.Join(dir, *name)
	}
	return p, nil
}

// DatasetSHA256 hashes a plan's dataset, with relative names beginning at dir; "" when it has no path.
func DatasetSHA256(ctx context.Context, p plan.Plan, dir string) (string, error) {
	p, err := Absolute(p, dir)
	if err != nil || p.Workload.Dataset.Path == "" {
		return "", err
	}
	if _, err := os.Stat(p.Workload.Dataset.Path); err != nil {
		return "", fault.New(fault.Plan, "dataset_missing", "correct the path in the plan", "the dataset cannot be read: %w", err)
	}
	return new(runner.Prepared).Hasher(ctx)(p.Workload.Dataset.Path)
}
