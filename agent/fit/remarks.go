package fit

import (
	"strings"

	"assay/plan"
	"assay/probes"
)

// Remarks are what a plan leaves open, or asks for in vain, and a reader of its result must know.
func Remarks(p plan.Plan) []string {
	list := p.IdleRouters()
	if p.Unpinned {
		list = append(list, "the plan allows images and data that are not pinned: this result cannot be repeated exactly")
	}
	if ids := probes.Wanted(p.Checks).Ignored(); len(ids) > 0 {
		list = append(list, "the plan ignores these checks: "+strings.Join(ids, ", "))
	}
	return list
}
