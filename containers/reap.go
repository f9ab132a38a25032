package containers

import (
	"context"
	"errors"
	"fmt"
)

// ReapAll ends and removes what a killed program of this owner left behind, in every runtime, and names it.
func ReapAll(ctx context.Context, owner string) ([]string, error) {
	if owner == "" {
		return nil, errors.New("reap: no owner")
	}
	var names []string
	var failed error
	for _, r := range Runtimes() {
		found, err := r.Reap(ctx, owner)
		names = append(names, found...)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("reap what runtime %s started: %w", r.Name(), err))
		}
	}
	return names, failed
}
