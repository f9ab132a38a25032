package point

import (
	"encoding/json"

	"assay/plan"
	"assay/result"
)

// PlanOf is the plan that a result's points were made by, as far as it can be read: a report shows plans of older versions too.
func PlanOf(r result.Result) plan.Plan {
	var p plan.Plan
	_ = json.Unmarshal(r.Plan, &p) // what cannot be read stays empty; the plan itself stands in the result
	return p
}

// OpenLoop is the open loop of a plan; zero when it has none.
func OpenLoop(p plan.Plan) plan.Serve {
	if p.Protocol.Serve == nil {
		return plan.Serve{}
	}
	return *p.Protocol.Serve
}
