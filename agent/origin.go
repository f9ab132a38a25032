package agent

import (
	"os"
	"path/filepath"
	"strings"

	"assay/fault"
	"assay/plan"
	"assay/runner"
)

// Origin is where a plan came from; it is no part of the plan, so that the same plan has the same hash everywhere.
type Origin struct {
	Source    string `json:"source"`               // cli | api | schedule:<id>
	BaseDir   string `json:"base_dir,omitempty"`   // relative file names of the plan begin here; "" when they cannot be resolved
	NoArchive bool   `json:"no_archive,omitempty"` // do not pack the run at its end
}

// Sources of a plan; a schedule's is "schedule:" and its id.
const (
	FromCLI = "cli"
	FromAPI = "api"
)

// resolve gives the plan with its file names made absolute.
func (o Origin) resolve(p plan.Plan) (plan.Plan, error) {
	names := []*string{&p.Model.Path, &p.Workload.Dataset.Path, &p.Server.TokenFile}
	if len(p.Server.Command) > 0 && strings.Contains(p.Server.Command[0], "/") {
		p.Server.Command = append([]string(nil), p.Server.Command...)
		names = append(names, &p.Server.Command[0])
	}
	for _, name := range names {
		if *name == "" || filepath.IsAbs(*name) {
			continue
		}
		if o.BaseDir == "" {
			return p, fault.New(fault.Plan, "relative_path", "write the whole path, beginning with /",
				"%q is a relative file name, and a plan sent over the API has no folder to begin from", *name)
		}
		*name = filepath.Join(o.BaseDir, *name)
	}
	return p, nil
}

// Absolute gives a plan whose relative file names began at dir as one that can be sent anywhere on this machine.
func Absolute(p plan.Plan, dir string) (plan.Plan, error) { return Origin{BaseDir: dir}.resolve(p) }

// DatasetSHA256 hashes a plan's dataset, with relative names beginning at dir; "" when it has no path.
func DatasetSHA256(p plan.Plan, dir string) (string, error) {
	p, err := Origin{BaseDir: dir}.resolve(p)
	if err != nil || p.Workload.Dataset.Path == "" {
		return "", err
	}
	if _, err := os.Stat(p.Workload.Dataset.Path); err != nil {
		return "", fault.New(fault.Plan, "dataset_missing", "correct the path in the plan", "the dataset cannot be read: %w", err)
	}
	return new(runner.Prepared).DatasetSHA256(p.Workload.Dataset.Path)
}
