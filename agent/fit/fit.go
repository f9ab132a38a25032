package fit

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"assay/containers"
	"assay/fault"
	"assay/plan"
	"assay/probes"
	"assay/runner"
)

// Plan refuses what no machine could do: it looks at the plan alone.
func Plan(p plan.Plan) error {
	if err := containers.CheckServers(p); err != nil {
		return err
	}
	for _, at := range p.Points() {
		if at.Router.Kind == plan.RouterNone {
			continue
		}
		err := containers.CheckRouter(at.Router, containers.RoutingHeaders(p), 1)
		if f := fault.Of(err, fault.Router); err != nil && f.Layer == fault.Plan { // the rest is the machine's
			return fmt.Errorf("point %s: %w", at.ID, err)
		}
	}
	return runner.CheckClient(p)
}

// SameMachine refuses to go on with a run on another machine than the one that its points were measured on, or on that one after it changed.
func SameMachine(before, now probes.SUT) error {
	var changed []string
	for _, c := range probes.Drift(before, now) {
		if c.Kind() == probes.ChangeMoved && c.Code != "boot" {
			changed = append(changed, c.Text+" ("+c.Evidence+")")
		}
	}
	if len(changed) == 0 {
		return nil
	}
	return fault.New(fault.Preflight, "machine_changed", "run the plan anew: a run is measured on one machine",
		"the machine changed since the points of this run were measured: %s", strings.Join(changed, "; "))
}

// Refuse turns failed checks of the machine into one error that names each.
func Refuse(checks []probes.Check) error {
	return refuse(checks, fault.Preflight, "not_fit", "the machine is not fit to measure")
}

// RefuseServer turns failed checks of a server into one error that names each.
func RefuseServer(checks []probes.Check) error {
	return refuse(checks, fault.Server, "not_as_planned", "the server is not the one the plan wants")
}

func refuse(checks []probes.Check, layer fault.Layer, code, text string) error {
	var failed, hints []string
	for _, c := range checks {
		if c.State != probes.CheckFail {
			continue
		}
		failed = append(failed, c.ID+": "+c.Text)
		if c.Hint != "" {
			hints = append(hints, c.ID+": "+strings.TrimSuffix(c.Hint, "."))
		}
	}
	if len(failed) == 0 {
		return nil
	}
	hints = append(hints, "or relax a check in the plan, e.g. checks: {"+strings.SplitN(failed[0], ":", 2)[0]+": relaxed}")
	return fault.New(layer, code, strings.Join(hints, "; "), "%s: %s", text, strings.Join(failed, "; "))
}

// Files refuses a plan whose model or dataset is not there. It is asked before the checks are: those of the model's disk fail then too, and no
// plan should relax them.
func Files(p plan.Plan) error {
	return cmp.Or(there("model", p.Model.Path), there("dataset", p.Workload.Dataset.Path))
}

func there(what, name string) error {
	if name == "" {
		return nil
	}
	if _, err := os.Stat(name); err != nil {
		return fault.New(fault.Preflight, what+"_missing", "correct the path in the plan, or put the file there",
			"the plan's %s cannot be read: %w", what, err)
	}
	return nil
}

// Dataset refuses one that is not what the plan was made for. sumOf gives a file's SHA-256.
func Dataset(d plan.Dataset, sumOf func(path string) (string, error)) error {
	if d.Path == "" || d.SHA256 == "" {
		return nil
	}
	sum, err := sumOf(d.Path)
	if err != nil {
		return err
	}
	if sum != d.SHA256 {
		return fault.New(fault.Preflight, "dataset_differs", "use the data the plan was made for, or run `assay plan pin` to take this one",
			"%s has SHA-256 %s, the plan wants %s", d.Path, sum, d.SHA256)
	}
	return nil
}

// Client reads as much of the dataset as the client needs for its first conversation, and counts the connections it will need.
func Client(ctx context.Context, p plan.Plan) error {
	err := runner.CheckDataset(ctx, p)
	if err == nil {
		err = runner.CheckLimits(p)
	}
	if err == nil {
		return nil
	}
	f := fault.Of(err, fault.Client)
	if f.Layer == fault.Plan {
		return f
	}
	return fault.New(fault.Preflight, strings.TrimPrefix(f.Code, string(f.Layer)+"."), f.Hint, "%s", f.Text)
}
