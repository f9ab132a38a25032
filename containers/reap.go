package containers

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"assay/containers/leftover"
)

// Reap ends and removes what a killed program of this owner left behind, in every runtime. Only what carries the owner's mark, or is in the
// session of an expected process, is touched. What could not be removed is told; the next look tries again.
func Reap(ctx context.Context, s Search, at DockerPlace) Found {
	if s.Owner == "" {
		return Found{Failed: errors.New("reap: no owner")}
	}
	var all Found
	for _, r := range Runtimes(at) {
		if s.Runtimes != nil && !slices.Contains(s.Runtimes, r.Name()) {
			continue
		}
		found := r.Reap(ctx, Search{Owner: s.Owner, Expected: leftover.OfRuntime(s.Expected, r.Name()), Dir: s.Dir})
		all.Removed, all.Stuck = append(all.Removed, found.Removed...), append(all.Stuck, found.Stuck...)
		all.Absent, all.Foreign = append(all.Absent, found.Absent...), append(all.Foreign, found.Foreign...)
		if found.Failed != nil {
			all.Failed = errors.Join(all.Failed, fmt.Errorf("look for what runtime %s started: %w", r.Name(), found.Failed))
		}
	}
	return all
}
