package fit

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/plan"
)

func TestRemarks(t *testing.T) {
	for _, c := range []struct {
		plan plan.Plan
		want []string
	}{
		{plan.Plan{Checks: map[string]any{"idle": "relaxed", "gpu_count": 8, "ecc": "required"}}, nil},
		{plan.Plan{Checks: map[string]any{"swap": "ignore", "server_version": "ignore", "gpu_count": []any{"ignore", 8}}}, []string{"the plan ignores these checks: gpu_count, server_version, swap"}},
		{plan.Plan{Unpinned: true}, []string{"the plan allows images and data that are not pinned: this result cannot be repeated exactly"}},
	} {
		if diff := cmp.Diff(c.want, Remarks(c.plan)); diff != "" {
			t.Error(diff)
		}
	}
}
