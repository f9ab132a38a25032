package agent

import (
	"context"

	"assay/agent/planfiles"
	"assay/plan"
	"assay/store"
)

// Origin is where a plan came from; it is no part of the plan, so that the same plan has the same hash everywhere.
type Origin struct {
	Source    string `json:"source"`               // cli | api | schedule:<id>
	BaseDir   string `json:"base_dir,omitempty"`   // relative file names of the plan begin here; "" when they cannot be resolved
	NoArchive bool   `json:"no_archive,omitempty"` // do not pack the run at its end
	Guest     bool   `json:"guest,omitempty"`      // it came over the network: the machine's list of what is allowed holds
}

// Sources of a plan; a schedule's is "schedule:" and its id.
const (
	FromCLI = "cli"
	FromAPI = "api"
)

// originOf reads where a run came from. Of one whose program was killed before that was written down nobody knows: it may have what a guest's may.
func (c Config) originOf(ctx context.Context, run store.Run) (Origin, error) {
	var from *Origin
	if err := c.readDocument(ctx, run.ID, docOrigin, &from); err != nil {
		return Origin{}, err
	}
	if from == nil {
		return Origin{Source: run.Source, Guest: true}, nil
	}
	return *from, nil
}

// resolve gives the plan with its file names made absolute.
func (o Origin) resolve(p plan.Plan) (plan.Plan, error) { return planfiles.Absolute(p, o.BaseDir) }
